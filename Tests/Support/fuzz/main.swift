import Foundation
import Fuzzing

// One program for all fuzzers, so that one build makes them.
exit(await FuzzCommand.run())
