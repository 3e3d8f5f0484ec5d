"""pyproject.toml says the rest: a wheel that carries libhsumma, copied into hsumma/, is for one kind of machine."""
import glob
import os

from setuptools import Distribution, setup


class Carrier(Distribution):
    def has_ext_modules(self):
        return bool(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hsumma", "libhsumma.so.*")))


setup(distclass=Carrier)
