# Sourced by scripts/try and scripts/test: finds a Python, makes the virtual environment, installs the package into it.
# Expects $root (the clone); needs nothing but a POSIX shell. Everything it says goes to standard error.

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# What the caller's shell adds to Python's path must not leak into our environment.
unset PYTHONHOME PYTHONPATH || :
# Hundreds of modules would be compiled anew by every process, of which tests start many.
unset PYTHONDONTWRITEBYTECODE || :
# Kernels are compiled at first use here: only those that are used, and anew when their source changes.
LIKELY_KERNELS=later
export LIKELY_KERNELS
# Threads of OpenBLAS wait for work by spinning; the command line does without them too.
OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
export OPENBLAS_NUM_THREADS

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
has_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }
can_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

apt_install() {
    say "Installing $* with apt-get."
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; } >/dev/null ||
        fail "apt-get could not install $*; install it by hand and run this again."
}

# Sets $python to a Python >= 3.11, one that can make virtual environments if there is such a one.
find_python() {
    python=
    for candidate in ${candidates:-python3.14 python3.13 python3.12 python3.11 python3}; do
        if command -v "$candidate" >/dev/null 2>&1 && is_new_enough "$candidate"; then
            [ -n "$python" ] || python=$candidate
            if has_venv "$candidate"; then
                python=$candidate
                return
            fi
        fi
    done
}

require_python() {
    find_python
    if [ -z "$python" ] && can_apt; then
        apt_install python3 python3-venv
        find_python
    fi
    [ -n "$python" ] || fail "likely needs Python 3.11 or newer, and none was found as python3.14 … python3.11 or python3;" \
        "install one (on Debian: apt-get install python3 python3-venv) and run this again."
    has_venv "$python" && return
    package="python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    if can_apt; then apt_install "$package"; fi
    has_venv "$python" || fail "$python cannot make virtual environments because its venv module is incomplete;" \
        "install it (on Debian: apt-get install $package) and run this again."
}

# prepare_oldest FOLDER: an environment with the oldest libraries that are supported, on the oldest Python that is there.
prepare_oldest() {
    candidates="python3.11 python3.12 python3.13 python3"
    require_python
    mkdir -p "$root/build"
    "$python" "$root/scripts/oldest.py" >"$root/build/oldest.txt"
    PIP_CONSTRAINT=$root/build/oldest.txt
    export PIP_CONSTRAINT
    prepare "$1" editable "$root[databases,onnx,png,sklearn,sql,web]" pandas polars pytest pytest-xdist hypothesis httpx
    unset PIP_CONSTRAINT
}

# What the installation depends on; a change of any of it makes the next run install again.
fingerprint() {
    printf '%s\n' "$root" "$venv" "$1"
    cksum <"$root/pyproject.toml"
    if [ "$1" = copied ]; then
        (cd "$root" && find src -type f ! -name '*.py[co]' ! -name '*.nb[ic]' -exec cksum {} + | LC_ALL=C sort)
    fi
}

# prepare FOLDER copied|editable REQUIREMENT...: afterwards $venv/bin/python can import likely.
prepare() {
    venv=${LIKELY_VENV:-$root/$1}
    case $venv in /*) ;; *) venv=$PWD/$venv ;; esac
    # Tools keep settings and caches under $HOME. Without one, the environment serves; one that is read-only still
    # holds the settings, so only the cache moves.
    if [ -z "${HOME:-}" ] || [ ! -d "$HOME" ]; then
        HOME=$venv
        export HOME
    elif [ ! -w "$HOME" ]; then
        XDG_CACHE_HOME=$venv/cache
        export XDG_CACHE_HOME
    fi
    stamp=$venv/likely-installed
    wanted=$(fingerprint "$2")
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && is_new_enough "$venv/bin/python"; then return; fi

    say "Setting up likely in $venv (this happens once, and again when the project changes)."
    if ! is_new_enough "$venv/bin/python" || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        # Only the folder that is ours may be cleared; one that the caller names is theirs.
        if [ -n "${LIKELY_VENV:-}" ] && [ -e "$venv" ] && [ -n "$(ls -A "$venv")" ]; then
            fail "$venv holds no working virtual environment with Python 3.11 or newer and pip;" \
                "remove it, or set LIKELY_VENV to another folder."
        fi
        require_python
        "$python" -m venv --clear "$venv" ||
            fail "The virtual environment $venv could not be made; set LIKELY_VENV to a folder that can be written."
    fi
    rm -f "$stamp"
    how=$2
    shift 2
    [ "$how" = copied ] || set -- --editable "$@"
    "$venv/bin/python" -m pip install --quiet --quiet --disable-pip-version-check "$@" ||
        fail "likely could not be installed into $venv; pip's reason is above (a first installation needs the network)."
    printf '%s\n' "$wanted" >"$stamp"
}
