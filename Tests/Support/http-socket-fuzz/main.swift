import Foundation
import FuzzSupport
import HTTPFuzzing

exit(await FuzzCommand.run(HTTPSocketFuzzer.self))
