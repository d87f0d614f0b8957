"""A compiler's launcher that copies the objects of the library which another build has, in place of compiling them."""

# Sources of sorting/ depend on how the build was configured; unity files hold some of them.
LAUNCHER = """#!/bin/sh
for argument; do
    [ "$before" = -o ] && object=$argument
    before=$argument
done
case $object in
    */sorting/*) ;;
    CMakeFiles/ingot.dir/*.cpp.o | CMakeFiles/ingot_cold.dir/*.cpp.o{unity})
        [ -f "{build}/$object" ] && exec cp "{build}/$object" "$object" ;;
esac
exec "$@"
"""


def write_launcher(folder, build, unity=True):
    """Its path. unity: copy unity files too, of a build that is configured alike."""
    path = folder / "launcher"
    path.write_text(LAUNCHER.format(build=build, unity=" | CMakeFiles/ingot*.dir/Unity/*.o" if unity else ""))
    path.chmod(0o755)
    return path
