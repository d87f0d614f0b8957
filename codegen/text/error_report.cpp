#include "codegen/text/error_report.hpp"

#include "codegen/text/error_report.cuh.hpp"

namespace ingot::codegen {

std::string error_report_text(detail::target where) {
    std::string out(embedded::error_record);
    return out += where == detail::target::cuda ? embedded::report_error : embedded::host_report_error;
}

}  // namespace ingot::codegen
