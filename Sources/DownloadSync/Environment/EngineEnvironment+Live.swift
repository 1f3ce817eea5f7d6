internal import Dispatch
internal import ObjectStore

extension EngineEnvironment {
  /// The real environment.
  package static let live = Self(
    instant: { .now },
    random: { .random(in: 0..<1) },
    startWork: { work in DispatchQueue.global().async(execute: work) },
    startLongWork: { work in
      DispatchQueue.global(qos: .utility).async(execute: work)
    },
    startTask: { operation in Task.detached { await operation() } },
    wake: { store, post in
      let ticking = Task {
        while !Task.isCancelled {
          try await Task.sleep(for: .milliseconds(200))
          post(.ticked)
        }
      }
      // Posts a signal for each commit of any process. A commit of another process is noticed
      // within a second even if its notification is lost: the store also polls.
      let watching = Task { await watch({ store.commits }, post) }
      return {
        ticking.cancel()
        watching.cancel()
      }
    },
    availableBytes: { Volume.availableBytes(inFolder: $0) },
    lacksDescriptors: { FileDescriptors.areExhausted },
    faultInjector: nil
  )
}
