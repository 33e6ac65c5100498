# Sourced by the scripts beside it: `cache` is where this machine keeps what the tests need, for all checkouts. Each thing in it is named after
# what it was made from, so that checkouts of different versions agree. tests/localstack/stack/paths.py says the same.
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

# The start of a digest of standard input.
digest() { sha256sum | cut -c1-12; }
