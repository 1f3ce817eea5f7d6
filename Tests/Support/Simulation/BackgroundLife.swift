internal import DownloadSimulation
internal import DownloadSync

/// The connection of a simulated process to a background session, cut together with the others.
struct BackgroundLife: BackgroundTransport {
  let life: Life
  let session: SimulatedBackgroundTransport

  func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    life.start(request, sink: sink)
  }

  func cancel(_ task: TaskID) {
    life.cancel(task)
  }

  func liveTasks() async -> [TaskSnapshot] {
    await life.liveTasks()
  }

  func adopt(_ task: TaskID, sink: any TaskSink) {
    guard !life.isDead else { return }
    life.trace.note("adopt", "\(task.rawValue)")
    life.know(task)
    session.adopt(task, sink: DefectiveSink.wrapping(sink, life.defects, life.chance))
  }

  func acknowledge(_ task: TaskID) {
    guard !life.isDead else { return }
    life.trace.note("acknowledge", "\(task.rawValue)")
    session.acknowledge(task)
  }

  var keptRecordIDs: [String] { session.keptRecordIDs }

  func discardBytes(ofRecord recordID: String) {
    if !life.isDead { session.discardBytes(ofRecord: recordID) }
  }

  func resume(_ task: TaskID) {
    if !life.isDead { session.resume(task) }
  }

  func wake() {
    if !life.isDead { session.wake() }
  }
}
