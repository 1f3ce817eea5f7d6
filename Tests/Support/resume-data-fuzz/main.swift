import Foundation
import ResumeDataFuzzing

/// Whether the files keep the properties; what does not is printed.
private func check(_ files: [String]) throws -> Bool {
  var isFine = true
  for file in files {
    do {
      let outcome = try ResumeDataProperties.check(Array(try Data(contentsOf: URL(filePath: file))))
      print("\(file): \(outcome)")
    } catch let violation as ResumeDataProperties.Violation {
      print("\(file): violation: \(violation)")
      isFine = false
    }
  }
  return isFine
}

do {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  if let state = options.state {
    exit(try Worker(options: options, state: state).run())
  } else if !options.files.isEmpty {
    exit(try check(options.files) ? 0 : 1)
  } else {
    exit(try Supervisor(options: options).run())
  }
} catch {
  print("resume-data-fuzz: \(error)")
  exit(64)
}
