import Foundation

/// What this process has handed to the system for writing; `nil` where the system does not say.
func bytesWritten() -> Int? {
  let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)
  let line = text?.split(separator: "\n").first { $0.hasPrefix("wchar:") }
  return line.flatMap { Int($0.dropFirst("wchar: ".count)) }
}

/// The time that `body` has a processor: what does not wait is measured best so beside others.
func processorTime(_ body: () throws -> Void) rethrows -> Duration {
  func now() -> Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
  let start = now()
  try body()
  return now() - start
}
