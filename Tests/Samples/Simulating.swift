// What the samples of DownloadSimulation stand in.
import DownloadSimulation
import Downloads

/// Returns a value that the text around a sample has.
func some<Value>() -> Value { fatalError("samples are only compiled") }

var store: RecordStore { some() }
var request: TaskRequest { some() }
var transport: SimulatedTransport { some() }
var nextSink: any TaskSink { some() }
var sink: any TaskSink { some() }
var lost: DownloadFailure { some() }
var body: SimulatedBody { some() }
var path: String { some() }
var url: String { some() }
