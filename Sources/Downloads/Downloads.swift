// What a program needs to download files, as one import: the records, the engine, the transport over
// URLSession, and the store below them, whose queries select records.
@_exported public import DownloadStore
@_exported public import DownloadSync
@_exported public import DownloadURLSession
@_exported public import ObjectStore
