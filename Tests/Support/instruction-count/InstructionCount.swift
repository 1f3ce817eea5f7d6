import SystemInterface

/// Runs the hot operations of the libraries, so that callgrind can count their instructions.
///
/// - `instruction-count prepare FOLDER` creates the stores.
/// - `instruction-count open FOLDER` checks the pages of copies of the stores.
/// - `instruction-count list` prints the name of each operation and its units of work.
/// - `instruction-count run NAME ROUNDS FOLDER` runs an operation that many times.
///
/// The difference between two runs, with one round and with two, is the cost of a round without that
/// of the process and of the first use. `Benchmarks/instructions.py` compares it with the accepted
/// count.
@main
enum InstructionCount {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.count) {
    case ("prepare", 2):
      try SampleStores.create(in: arguments[1])
    case ("open", 2):
      try SampleStores.open(in: arguments[1])
    case ("list", 1):
      for operation in Operation.all { print("\(operation.units)\t\(operation.name)") }
    case ("run", 4):
      guard let operation = Operation.all.first(where: { $0.name == arguments[1] }),
        let rounds = Int(arguments[2])
      else { fallthrough }
      try await operation.run(Workload(folder: arguments[3], rounds: rounds))
    default:
      print("usage: instruction-count prepare FOLDER | open FOLDER | list | run NAME ROUNDS FOLDER")
      exit(64)
    }
  }
}
