"""A compiler's launcher that copies the objects of the library which another build has, in place of compiling them."""

# The images of CUB's kernels depend on how the build was configured.
LAUNCHER = """#!/bin/sh
for argument; do
    [ "$before" = -o ] && object=$argument
    before=$argument
done
case $object in
    */sorting/*) ;;
    CMakeFiles/ingot.dir/*.cpp.o | CMakeFiles/ingot_cold.dir/*.cpp.o | CMakeFiles/ingot*.dir/Unity/*.o)
        [ -f "{build}/$object" ] && exec cp "{build}/$object" "$object" ;;
esac
exec "$@"
"""


def write_launcher(folder, build):
    """Its path."""
    path = folder / "launcher"
    path.write_text(LAUNCHER.format(build=build))
    path.chmod(0o755)
    return path
