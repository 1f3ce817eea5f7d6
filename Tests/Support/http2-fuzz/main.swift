import Foundation
import FuzzSupport
import HTTPFuzzing

exit(await FuzzCommand.run(HTTP2Fuzzer.self))
