"""The part that pyproject.toml cannot express: if libhsumma has been copied into hsumma/, the wheel contains it and is
for one platform."""
import glob
import os

from setuptools import Distribution, setup


class Carrier(Distribution):
    def has_ext_modules(self):
        return bool(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hsumma", "libhsumma.so.*")))


setup(distclass=Carrier)
