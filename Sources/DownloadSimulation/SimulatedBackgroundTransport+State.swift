internal import DownloadSync
internal import Foundation

extension SimulatedBackgroundTransport {
  /// The end of a task as reported to a process.
  struct End: Sendable {
    var snapshot: TaskSnapshot
    var outcome: TaskOutcome
    var resumeData: Data?
    var delivery: DeliveryInbox.Delivery?
  }

  /// The tasks of the session, and what the process knows of them.
  struct State: Sendable {
    var tasks: [TaskID: SessionTask] = [:]
    var lastID: UInt64 = 0
    var leavesResumeData = true
    var requests: [TaskRequest] = []
    // The following belongs to the process; a crash loses it.
    /// Whether the process has created the session, which then reports ends to it.
    var isConnected = true
    /// The ends that were not passed to a sink yet.
    var ends: [TaskID: End] = [:]
    /// The tasks that were cancelled without a sink.
    var unwanted: Set<TaskID> = []
    /// The bodies passed to sinks and not acknowledged yet.
    var told: [TaskID: DeliveryInbox.Delivery] = [:]
    /// The number of the last delivery left by an earlier process.
    var lastLeftover = UInt64.max
  }
}
