import Foundation
import FuzzSupport
import RowFuzzing

exit(await FuzzCommand.run(RowFuzzer.self))
