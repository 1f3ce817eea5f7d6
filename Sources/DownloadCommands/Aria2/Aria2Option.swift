/// The options of aria2, and what becomes of each.
///
/// Source: the manual page of aria2 1.37.0. Options of FTP, BitTorrent and RPC are not in the table of
/// those with an effect: a download of a URL does not use them.
struct Aria2Option: Sendable, Hashable {
  /// What is done with an option.
  enum Effect: Sendable, Hashable {
    /// An option of a download, which ``InputFile/Entry`` reads.
    case download
    /// An option of the engine or of the command, which ``Aria2Plan`` translates.
    case engine
    /// It does not change which bytes are downloaded, or which file contains them.
    case ignored
    /// It cannot be honoured, and another file, or none, would be the result.
    ///
    /// With the text after "it" in a message.
    case refused(String)
    /// As ``refused(_:)`` unless the value is this one, its default.
    case refusedUnless(String, String)
  }

  /// Whether and how the option has a value.
  enum Value: Sendable, Hashable {
    /// The value is required: `--name=value` or `--name value`.
    case required
    /// `--name` is `--name=true`.
    case boolean
    /// The value may be left out: `--name=value` or `--name`.
    case optional
  }

  let name: String
  let short: Character?
  let value: Value
  let effect: Effect

  private init(_ name: String, _ short: Character?, _ value: Value, _ effect: Effect) {
    (self.name, self.short, self.value, self.effect) = (name, short, value, effect)
  }

  /// All options, by name.
  static let all: [String: Aria2Option] = Dictionary(
    uniqueKeysWithValues: (downloads + engine + refused + ignored).map { ($0.name, $0) }
  )

  /// The options with a short name.
  static let byShortName: [Character: Aria2Option] = Dictionary(
    uniqueKeysWithValues: all.values.compactMap { option in option.short.map { ($0, option) } }
  )

  /// Whether an option of a session does not change the download that it belongs to.
  ///
  /// aria2 stores every option of its command line with each download. Those of the engine are set by
  /// the options of `run`, for all downloads.
  static func isWithoutEffect(_ name: Substring, _ value: Substring) -> Bool {
    guard let option = all[String(name)] else { return false }
    return switch option.effect {
    case .ignored: true
    case .engine: !changesConnection.contains(option.name)
    case .refusedUnless(let usual, _): value == usual
    case .download, .refused: false
    }
  }

  /// Options of the engine without which a server may be reached in another way, or not at all.
  private static let changesConnection: Set = [
    "all-proxy", "http-proxy", "https-proxy", "all-proxy-user", "all-proxy-passwd",
    "http-proxy-user", "http-proxy-passwd", "https-proxy-user", "https-proxy-passwd",
    "ca-certificate",
    "certificate", "private-key", "interface", "load-cookies", "netrc-path", "min-tls-version",
    "disable-ipv6", "no-proxy",
  ]

  private static let downloads: [Aria2Option] = [
    Aria2Option("out", "o", .required, .download),
    Aria2Option("dir", "d", .required, .download),
    Aria2Option("checksum", nil, .required, .download),
    Aria2Option("gid", nil, .required, .download),
    Aria2Option("max-download-limit", nil, .required, .download),
    Aria2Option("split", "s", .required, .download),
    Aria2Option("max-connection-per-server", "x", .required, .download),
    Aria2Option("header", nil, .required, .download),
    Aria2Option("referer", nil, .required, .download),
    Aria2Option("user-agent", "U", .required, .download),
    Aria2Option("http-user", nil, .required, .download),
    Aria2Option("http-passwd", nil, .required, .download),
    Aria2Option("allow-overwrite", nil, .boolean, .download),
    Aria2Option("auto-file-renaming", nil, .boolean, .download),
  ]

  private static let engine: [Aria2Option] =
    [
      ("all-proxy", nil), ("http-proxy", nil), ("https-proxy", nil), ("all-proxy-user", nil),
      ("all-proxy-passwd", nil), ("http-proxy-user", nil), ("http-proxy-passwd", nil),
      ("https-proxy-user", nil), ("https-proxy-passwd", nil), ("ca-certificate", nil),
      ("certificate", nil), ("private-key", nil), ("interface", nil), ("load-cookies", nil),
      ("netrc-path", nil), ("min-tls-version", nil), ("min-split-size", "k"),
      ("file-allocation", nil), ("max-concurrent-downloads", "j"), ("max-tries", "m"),
      ("retry-wait", nil), ("timeout", "t"), ("connect-timeout", nil), ("lowest-speed-limit", nil),
      ("max-overall-download-limit", nil), ("input-file", "i"), ("metalink-file", "M"),
      ("metalink-location", nil), ("log", "l"), ("no-proxy", nil),
    ].map { Aria2Option($0.0, $0.1, .required, .engine) }
    + [
      ("continue", "c"), ("quiet", "q"), ("force-sequential", "Z"), ("no-netrc", "n"),
      ("disable-ipv6", nil), ("remote-time", "R"), ("remove-control-file", nil),
      ("show-console-readout", nil), ("http-no-cache", nil),
    ].map { Aria2Option($0.0, $0.1, .boolean, .engine) }

  private static let refused: [Aria2Option] =
    [
      Aria2Option(
        "check-certificate",
        nil,
        .boolean,
        .refusedUnless(
          "true",
          "is not supported: certificates are always checked; --ca-certificate names one to trust"
        )
      ),
      Aria2Option("pause", nil, .boolean, .refusedUnless("false", "would end without a download")),
      Aria2Option(
        "conditional-get",
        nil,
        .boolean,
        .refusedUnless("false", "is not supported: the file is always requested")
      ),
      Aria2Option(
        "dry-run",
        nil,
        .boolean,
        .refusedUnless("false", "is 'dlstore get --dry-run URL' here")
      ),
      Aria2Option(
        "hash-check-only",
        nil,
        .boolean,
        .refusedUnless("false", "is not supported: sha256sum and its like check a file")
      ),
      Aria2Option(
        "check-integrity",
        "V",
        .boolean,
        .refusedUnless(
          "false",
          "is not supported: --checksum is checked when the file is complete"
        )
      ),
      Aria2Option(
        "parameterized-uri",
        "P",
        .boolean,
        .refusedUnless("false", "is not supported: write the URLs out")
      ),
      Aria2Option(
        "enable-rpc",
        nil,
        .boolean,
        .refusedUnless("false", "is not supported here: 'dlstore serve' answers aria2's calls")
      ),
      Aria2Option(
        "daemon",
        "D",
        .boolean,
        .refusedUnless("false", "is not supported: start the command in the background")
      ),
      Aria2Option("stop", nil, .required, .refusedUnless("0", "is not supported: use timeout(1)")),
      Aria2Option("stop-with-process", nil, .required, .refused("is not supported")),
      Aria2Option(
        "conf-path",
        nil,
        .required,
        .refused("is not supported: no file of options is read")
      ),
      Aria2Option(
        "save-session",
        nil,
        .required,
        .refused("is not supported: an unfinished download continues when the command is repeated")
      ),
      Aria2Option("save-cookies", nil, .required, .refused("is not supported")),
      Aria2Option(
        "torrent-file",
        "T",
        .required,
        .refused("is not supported: there is no BitTorrent")
      ),
      Aria2Option("index-out", "O", .required, .refused("is not supported")),
      Aria2Option("select-file", nil, .required, .refused("is not supported")),
      Aria2Option("show-files", "S", .boolean, .refusedUnless("false", "is not supported")),
      Aria2Option("metalink-language", nil, .required, .refused("is not supported")),
      Aria2Option("metalink-os", nil, .required, .refused("is not supported")),
      Aria2Option("metalink-version", nil, .required, .refused("is not supported")),
      Aria2Option("metalink-base-uri", nil, .required, .refused("is not supported")),
      Aria2Option(
        "multiple-interface",
        nil,
        .required,
        .refused("is not supported: give one --interface")
      ),
    ]
    + ["complete", "error", "start", "pause", "stop"].map { event in
      Aria2Option(
        "on-download-\(event)",
        nil,
        .required,
        .refused("is not supported: run the command after this one")
      )
    }

  /// Options about messages, caches, protocols that are not used, and how aria2 works inside.
  private static let ignored: [Aria2Option] =
    [
      "always-resume", "allow-piece-length-change", "async-dns", "content-disposition-default-utf8",
      "deferred-input", "enable-async-dns6", "enable-color", "enable-http-keep-alive",
      "enable-http-pipelining", "enable-mmap", "force-save", "ftp-pasv", "ftp-reuse-connection",
      "http-accept-gzip", "http-auth-challenge", "human-readable",
      "keep-unfinished-download-result",
      "metalink-enable-unique-protocol", "no-conf", "realtime-chunk-checksum", "reuse-uri",
      "rpc-allow-origin-all", "rpc-listen-all", "rpc-save-upload-metadata", "rpc-secure",
      "save-not-found", "stderr", "truncate-console-readout", "use-head", "enable-dht",
      "enable-dht6",
      "enable-peer-exchange", "bt-enable-lpd", "bt-seed-unverified", "bt-hash-check-seed",
      "bt-save-metadata", "bt-load-saved-metadata", "bt-require-crypto", "bt-force-encryption",
      "bt-detach-seed-only", "bt-metadata-only", "bt-remove-unselected-file", "pause-metadata",
      "bt-enable-hook-after-hash-check",
    ].map { Aria2Option($0, nil, .boolean, .ignored) }
    + [
      "async-dns-server", "auto-save-interval", "console-log-level", "disk-cache",
      "download-result",
      "dscp", "event-poll", "follow-metalink", "follow-torrent", "ftp-passwd", "ftp-proxy",
      "ftp-proxy-passwd", "ftp-proxy-user", "ftp-type", "ftp-user", "log-level",
      "max-download-result", "max-file-not-found", "max-mmap-limit", "max-resume-failure-tries",
      "metalink-preferred-protocol", "no-file-allocation-limit", "piece-length", "proxy-method",
      "rlimit-nofile", "rpc-certificate", "rpc-listen-port",
      "rpc-max-request-size", "rpc-passwd", "rpc-private-key", "rpc-secret", "rpc-user",
      "save-session-interval", "server-stat-if", "server-stat-of", "server-stat-timeout",
      "socket-recv-buffer-size", "ssh-host-key-md", "stream-piece-selector", "summary-interval",
      "uri-selector", "seed-time", "seed-ratio", "listen-port", "dht-listen-port", "bt-max-peers",
      "bt-tracker", "bt-exclude-tracker", "bt-tracker-timeout", "bt-tracker-interval",
      "bt-tracker-connect-timeout", "bt-stop-timeout", "bt-max-open-files", "bt-min-crypto-level",
      "bt-request-peer-speed-limit", "bt-prioritize-piece", "bt-external-ip", "bt-lpd-interface",
      "dht-entry-point", "dht-entry-point6", "dht-file-path", "dht-file-path6", "dht-listen-addr6",
      "dht-message-timeout", "peer-id-prefix", "peer-agent", "on-bt-download-complete",
      "max-overall-upload-limit", "max-upload-limit",
    ].map { name in
      Aria2Option(name, name == "max-upload-limit" ? "u" : nil, .required, .ignored)
    }
    + [Aria2Option("optimize-concurrent-downloads", nil, .optional, .ignored)]
}
