// What the samples of LMDB stand in.
import LMDB

/// Returns a value that the text around a sample has.
func some<Value>() -> Value { fatalError("samples are only compiled") }

var environment: Environment { some() }
var notes: Database { some() }
var drafts: Database { some() }
var cache: Database { some() }
var key: [UInt8] { some() }
var oldKey: [UInt8] { some() }
var newKey: [UInt8] { some() }
var value: [UInt8] { some() }
var batch: [([UInt8], [UInt8])] { some() }
var batches: [[([UInt8], [UInt8])]] { some() }
func write(_ batch: [([UInt8], [UInt8])], to environment: Environment) throws(LMDBError) {}
