internal import ArgumentParser

/// The format of a list of downloads.
package enum OutputFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
  case table
  case json
  case jsonl
  case csv
}
