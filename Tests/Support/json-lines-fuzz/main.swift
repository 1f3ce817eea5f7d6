import Foundation
import FuzzSupport
import StoreFuzzing

exit(await FuzzCommand.run(JSONLinesFuzzer.self))
