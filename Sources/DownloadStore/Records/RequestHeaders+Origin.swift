extension RequestHeaders {
  /// Creates the header fields that were given with a URL.
  init(recordID: String, fields: [HeaderField], givenFor url: String) {
    self.init(recordID: recordID, fields: fields, origin: RecordIdentity.origin(of: url))
  }

  /// Returns the fields that a request for the record may carry to a URL.
  ///
  /// Fields stored without an origin belong to that of the record's own URL. A replaced URL does
  /// not change that: ``RecordStore/replaceURL(matching:with:)`` stores the origin first.
  package func fields(of record: DownloadRecord, sentTo url: String) -> [HeaderField] {
    HeaderScope.fields(fields, givenFor: origin ?? record.url, sentTo: url)
  }
}
