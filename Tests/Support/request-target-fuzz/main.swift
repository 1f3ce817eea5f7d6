import Foundation
import FuzzSupport
import HTTPFuzzing

exit(await FuzzCommand.run(RequestTargetFuzzer.self))
