import DownloadStore
import SystemInterface
import Testing

@testable import DownloadSync

@Suite(.timeLimit(.minutes(10))) struct EventDispatcherTests {
  private final class Notes: Sendable {
    private let names = Mutex<[String]>([])

    var all: [String] { names.withLock { $0 } }

    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  private struct Listener: ResponseInterceptor, RequestInterceptor {
    let notes: Notes
    let priority = 0

    func intercept(_ response: DownloadResponse) async throws { notes.add("told") }

    func intercept(_ request: TaskRequest, for record: DownloadRecord) async throws -> TaskRequest {
      var request = request
      request.url += "?signed"
      return request
    }
  }

  private let hub = EventHub()
  private let inbox = EngineInbox()
  private let notes = Notes()

  private func dispatcher(intercepts: Bool) -> EventDispatcher {
    let listeners = intercepts ? [Listener(notes: notes)] : []
    return EventDispatcher(
      hub: hub,
      interceptors: InterceptorChain(requests: listeners, responses: listeners),
      inbox: inbox
    )
  }

  private var response: DownloadResponse { DownloadResponse(record: .sample()) }

  @Test func `without interceptors an end is emitted immediately`() async {
    let events = hub.subscribe(to: .everything, capacity: 4)
    var dispatcher = dispatcher(intercepts: false)
    dispatcher.emitEnd(.completed(.sample()), response)
    #expect(dispatcher.pendingCount == 0)
    #expect(await events.consumer.next()?.isEnd == true)
  }

  @Test func `interceptors are told of an end before its event, and the inbox afterwards`() async {
    let events = hub.subscribe(to: .everything, capacity: 4)
    var dispatcher = dispatcher(intercepts: true)
    dispatcher.emitEnd(.completed(.sample()), response)
    #expect(dispatcher.pendingCount == 1)
    #expect(await events.consumer.next()?.isEnd == true)
    #expect(notes.all == ["told"])
    guard case .endNotified? = await inbox.next().first else {
      Issue.record("the inbox did not receive the return")
      return
    }
    dispatcher.noteReturn()
    #expect(dispatcher.pendingCount == 0)
  }

  @Test func `the inbox receives the request that the interceptors return`() async {
    let request = TaskRequest(url: "https://example.com/a", recordID: "id")
    #expect(dispatcher(intercepts: false).prepare(request, for: .sample()) == nil)
    #expect(dispatcher(intercepts: true).prepare(request, for: .sample(), part: 3) != nil)
    guard case .requestMade(let key, 3, .success(let made))? = await inbox.next().first else {
      Issue.record("the inbox did not receive the request")
      return
    }
    #expect(key.matches(.sample()) && made.url == "https://example.com/a?signed")
  }
}
