# Sourced by the scripts beside it: `cache` is this machine's cache of what the tests need, shared
# by all checkouts. Names in it end with a digest of the inputs, so that checkouts of different
# versions can share it. Keep in step with tests/localstack/stack/paths.py.
if [[ -n ${DRAGLINE_CACHE:-} ]]; then
    cache=$(realpath -m -- "$DRAGLINE_CACHE")
elif [[ ${XDG_CACHE_HOME:-} == /* ]]; then
    cache=$XDG_CACHE_HOME/dragline
elif [[ ${HOME:-} == /* ]]; then
    cache=$HOME/.cache/dragline
else
    cache=$PWD/.cache
fi
mkdir -p "$cache"

# Prints the start of a digest of standard input.
digest() { sha256sum | cut -c1-12; }
