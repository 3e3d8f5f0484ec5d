# Tests an installation from outside the tree.
if [ -n "$SANITIZE" ]; then echo "1..0 # SKIP programs outside would have to be built with the sanitizers"; exit 0; fi
exec "$(dirname "$0")/../../scripts/check-install"
