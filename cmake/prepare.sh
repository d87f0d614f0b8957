# Sourced by examples/run and tests/run, which run on a bare machine: says what is going on and installs the Debian
# packages that are missing. What is there already, from wherever it came, is left alone.

say() { printf '\n== %s\n' "$*"; }

die() {
    printf '%s: %s\n' "$0" "$*" >&2
    exit 1
}

# A probe is a command, a <header>, a python:module, headers-of-python or a library's file. It looks for the thing that
# is used: for a library that is linked the library's file, since another package may hold its headers.
is_there() {
    case $1 in
        '<'*) printf '#include %s\n' "$1" | "${CXX:-c++}" -std=c++20 -x c++ -E - ;;
        python:*) python3 -c "import ${1#python:}" ;;
        headers-of-python) [ -e "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] ;;
        lib*.so*) echo 'int main() {}' | "${CXX:-c++}" -x c++ - -l:"$1" -o /dev/null ;;
        *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

# install_missing PROBE=PACKAGE...: installs the packages whose probe finds nothing.
install_missing() {
    local pair packages=() as_root=()
    for pair in "$@"; do
        is_there "${pair%=*}" || packages+=("${pair##*=}")
    done
    [ ${#packages[@]} -gt 0 ] || return 0

    say "Installing ${packages[*]}"
    command -v apt-get >/dev/null ||
        die "there is no apt-get here; please install what these Debian packages hold: ${packages[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "neither root nor sudo; please install ${packages[*]}"
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${packages[@]}"
    for pair in "$@"; do
        is_there "${pair%=*}" || die "${pair%=*} is still missing after installing ${pair##*=}"
    done
}

# Opened when a program runs.
run_packages=(libopenblas.so.0=libopenblas0 libfftw3.so.3=libfftw3-double3 libfftw3f.so.3=libfftw3-single3
    libhwy_contrib.so.1=libhwy1 libpng16.so.16=libpng16-16)

build_packages=(c++=g++ cmake=cmake ninja=ninja-build)

# configure PRESET [CMAKE ARGUMENTS...]: in `build`, which it sets, a folder for each preset and $CXX.
configure() {
    build=build/$1${CXX:+-${CXX##*/}}
    cmake --preset "$1" -B "$build" "${@:2}" | grep -e '^-- Ingot'
}

compile() { cmake --build "$build" --parallel "$(nproc)" "$@"; }
