import Foundation
import FuzzSupport
import ResumeDataFuzzing

exit(await FuzzCommand.run(ResumeDataFuzzer.self))
