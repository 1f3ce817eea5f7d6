import Foundation
import FuzzSupport
import HTTPFuzzing

exit(await FuzzCommand.run(HTTPResponseFuzzer.self))
