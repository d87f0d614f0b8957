"""Ingot for Conan 2, from the tree that this lies in: conan create packages/conan"""
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Ingot(ConanFile):
    name = "ingot"
    version = "0.1.0"
    description = "An embedded array language for C++20: one expression, one kernel"
    license = "MIT"
    topics = ("array", "cuda", "expression-templates", "jit", "numpy")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "codegen/*", "include/*", "runtime/*"):
            copy(self, pattern, tree, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["INGOT_BUILD_TESTING"] = False
        toolchain.cache_variables["INGOT_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["INGOT_INSTALL"] = True
        toolchain.cache_variables["INGOT_MPI"] = "OFF"  # an MPI that happens to be here is no part of the package
        toolchain.cache_variables["INGOT_SORTING_ARCHITECTURES"] = "sm_80;sm_90;sm_100;compute_100"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_target_name", "ingot::ingot")
        self.cpp_info.set_property("pkg_config_name", "ingot")
        self.cpp_info.libs = ["ingot"]
        if self.settings.os == "Linux":
            self.cpp_info.system_libs = ["pthread", "dl"]
