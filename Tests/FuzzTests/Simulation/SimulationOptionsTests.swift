import Simulation
import Testing

/// The arguments of the program `simulate`.
struct SimulationOptionsTests {
  @Test func `the options of simulate are parsed`() throws {
    let usual = try SimulationOptions([])
    #expect(usual.count == 1_000 && usual.seed == nil && usual.first == nil)
    let many = try SimulationOptions(["--seeds", "7", "--from", "40"])
    #expect(many.count == 7 && many.first == 40)
    #expect(try SimulationOptions(["--seed", "18446744073709551615"]).seed == .max)
    let defect = try #require(Defect.allCases.first)
    #expect(try SimulationOptions(["--defect", defect.rawValue]).defects == [defect])
  }

  @Test(arguments: [
    "--sed 4", "4", "--seed", "--seed x", "--seed -1", "--seeds 0", "--seeds 10k",
    "--defect nothing",
    "--help", "--seed 1 --seeds 2", "--seed 1 --from 2", "--seeds=4",
  ])
  func `an argument that cannot be used is refused with the usage`(text: String) {
    let words = text.split(separator: " ").map(String.init)
    let error = #expect(throws: SimulationOptions.UsageError.self) { try SimulationOptions(words) }
    #expect(error?.message.hasSuffix(SimulationOptions.usage) == true)
  }
}
