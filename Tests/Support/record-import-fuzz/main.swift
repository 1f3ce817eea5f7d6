import Foundation
import FuzzSupport
import StoreFuzzing

exit(await FuzzCommand.run(RecordImportFuzzer.self))
