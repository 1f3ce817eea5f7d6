/// What `dlstore` has instead of an option of another program.
struct ForeignOption: Sendable {
  /// What becomes of the value of an option in a command that works.
  enum Value: Sendable, Hashable {
    /// The option has no value.
    case none
    case dropped, kept
  }

  /// A sentence without a full stop.
  let hint: String
  /// The words that replace the option; `nil` if no option of `dlstore` does the same.
  let words: [String]?
  let value: Value

  private init(_ hint: String, _ words: [String]?, _ value: Value) {
    (self.hint, self.words, self.value) = (hint, words, value)
  }

  /// An option without a replacement.
  static func absent(_ hint: String) -> Self { Self(hint, nil, .none) }

  /// An option that is not needed.
  static func omitted(_ hint: String = ShortOption.isDefault, _ value: Value = .none) -> Self {
    Self(hint, [], value)
  }

  /// An option with the same value and another name.
  static func named(_ name: String, _ valueName: String) -> Self {
    Self("use \(name) \(valueName)", [name], .kept)
  }

  /// An option that other words replace.
  static func words(_ words: String, _ hint: String? = nil) -> Self {
    let split = words.split(separator: " ").map(String.init)
    return Self(hint ?? "use \(words)", split, .none)
  }

  // MARK: The table

  /// The options by their names, those of ``ShortOption`` included; a name that ends with `*` stands
  /// for all that begin with it.
  ///
  /// They are the options of curl, wget, aria2c, yt-dlp and rclone.
  static let all: [String: ForeignOption] = {
    let hints = ShortOption.hints
    var all = hints.mapValues { absent($0) }
    for (names, option) in table {
      for name in names.split(separator: " ").map(String.init) {
        // A short option has another meaning in each program, which its hint takes into account.
        all[name] = Self(hints[name] ?? option.hint, option.words, option.value)
      }
    }
    return all
  }()

  /// Finds the option of a name with its dashes; `nil` if it is not known.
  static func named(_ name: String) -> ForeignOption? {
    if let option = all[name] { return option }
    // The longest beginning is the most exact one.
    return all.filter { $0.key.hasSuffix("*") && name.hasPrefix($0.key.dropLast()) }
      .max { $0.key.count < $1.key.count }?.value
  }

  private static let keep = words("--if-exists keep")
  private static let replace = words("--if-exists replace")
  private static let quiet = words("--quiet")
  private static let connections = named("--connections", "N")

  private static let table: [(names: String, option: ForeignOption)] = [
    // Not needed
    (
      """
      -f -L -S -g --fail --fail-early --fail-with-body --location --show-error --create-dirs \
      --remote-name-all --globoff --no-glob --no-buffer --no-config --no-conf --disable -nd \
      -nH --no-directories --no-host-directories --no-cache --http-no-cache --basic --anyauth \
      --auth-no-challenge --ssl-reqd --https-only --proto-default --tcp-nodelay --path-as-is \
      --remove-on-error --parallel-immediate --retry-connrefused --retry-all-errors \
      --show-progress --no-remove-listing --always-resume --enable-color --trust-server-names \
      --newline --enable-mmap --disk-cache --reuse-uri --remove-control-file --next
      """,
      omitted()
    ),
    ("-c --continue", omitted(ShortOption.always)),
    ("-C --continue-at", omitted(ShortOption.always, .dropped)),
    ("-J --remote-name --remote-header-name --content-disposition*", omitted(ShortOption.fileName)),
    ("-# --progress-bar", omitted(bars)),
    ("--progress", omitted(bars, .dropped)),
    ("-s --silent --no-verbose -nv", quiet),
    ("--no-progress-meter --hide-progress", words("--no-progress")),
    ("--show-console-readout", absent("use --no-progress")),

    // Files
    ("--output-document", named("-o", "NAME")),
    (
      "-P -d --directory-prefix --output-dir --output-directory --paths",
      Self(ShortOption.folder, ["--output-folder"], .kept)
    ),
    ("-nc --no-clobber --no-overwrites", keep),
    ("--allow-overwrite --overwrite --force --clobber --force-overwrites --unlink", replace),
    (
      "--auto-file-renaming --if-exist --backups",
      absent("use --if-exists number, fail, keep or replace")
    ),
    ("--file-allocation", named("--preallocate", "none, sparse or full")),
    (
      "--timestamping -z --time-cond --conditional-get --update --no-if-modified-since",
      absent(ShortOption.newer)
    ),
    ("--no-use-server-timestamps --no-mtime", words("--no-remote-time")),
    ("--mtime", words("--remote-time")),
    (
      "--xattr --preserve-permissions",
      absent("dlstore sets no attributes of files but the time, with --remote-time")
    ),
    ("--etag-compare --etag-save", omitted("dlstore stores the entity tag and uses it", .dropped)),
    (
      "-l --log --stderr -a --append-output --output-file",
      absent("use 2>> FILE of the shell for the messages")
    ),
    ("--force-directories", words("--folders-from-url")),
    ("--cut-dirs", absent("use --folders-from-url --cut N")),
    ("--protocol-directories", absent("use -o '{host}/{path}/{name}' with other folders")),
    ("--restrict-file-names --ignore-case --default-page", absent(ShortOption.fileName)),
    ("--use-ascii -B --crlf", absent("dlstore stores the bytes of a file as they are")),
    ("--range --start-pos", absent("dlstore downloads whole files")),
    ("--max-filesize", named("--max-file-size", "BYTES")),
    (
      "-Q --quota",
      absent("dlstore has no limit of the total size; --max-file-size BYTES limits each file")
    ),
    (
      "--adjust-extension --create-file-mode",
      absent("dlstore does not change names and modes of files")
    ),
    (
      "-V --check-integrity --hash-check-only --realtime-chunk-checksum",
      absent("'verify-file' reads finished files; --version shows the version")
    ),

    // How much, and how often
    ("--split --max-connection-per-server --concurrent-fragments", connections),
    ("--transfers --max-concurrent-downloads --parallel-max", named("--max-concurrent", "N")),
    (
      "--parallel --optimize-concurrent-downloads --force-sequential",
      absent("use --max-concurrent N")
    ),
    ("--min-split-size", named("--min-split", "BYTES")),
    ("--piece-length --allow-piece-length-change", absent("use --min-split BYTES")),
    ("--max-download-limit", named("--limit-rate-per-download", "BYTES")),
    ("--max-overall-download-limit --bwlimit", named("--limit-rate", "BYTES")),
    ("--rate --limit --throttled-rate", absent("use --limit-rate BYTES")),
    ("--tries --retry --retries --max-tries --low-level-retries", named("--max-attempts", "N")),
    (
      "--retry-max-time --retry-on-http-error --max-resume-failure-tries --max-file-not-found",
      absent("use --max-attempts N")
    ),
    ("--retry-delay --waitretry", named("--retry-wait", "DURATION")),
    ("--connect-timeout --read-timeout --socket-timeout", named("--timeout", "DURATION")),
    (
      "--max-time",
      absent("there is no limit of the total time; --timeout limits the time without data")
    ),
    ("-Y --lowest-speed-limit --speed-limit", named("--lowest-speed", "BYTES")),
    ("-y --speed-time", named("--lowest-speed-time", "DURATION")),
    ("--wait --random-wait --sleep-interval", absent(wait)),
    ("--stop --stop-with-process", absent("use 'timeout 1h dlstore …' of the shell")),

    // What is asked, and as whom
    ("--url", Self("write the URL without an option", [], .kept)),
    ("-U", Self("use -A TEXT, or --proxy URL for a proxy", ["-A"], .kept)),
    (
      """
      --user --http-user --http-passwd --http-password --password --username --digest --ntlm* \
      --negotiate --oauth2-bearer --aws-sigv4 --ask-password --use-askpass \
      --http-auth-challenge --login-options --delegation --disallow-username-in-url --sasl-*
      """,
      absent(ShortOption.login)
    ),
    ("--netrc-path", named("--netrc-file", "FILE")),
    ("--netrc-optional", words("--netrc")),
    ("--load-cookies --cookies", named("--cookie-file", "FILE")),
    ("--cookie", absent("use --cookie-file FILE")),
    (
      "--cookie-jar --save-cookies --keep-session-cookies --junk-session-cookies --no-cookies",
      absent("dlstore does not store cookies; --cookie-file FILE sends those of a file")
    ),
    ("--max-redirs --max-redirect", omitted("dlstore follows up to 20 redirects", .dropped)),
    (
      """
      --location-trusted --post301 --post302 --post303 --proto --proto-redir \
      --suppress-connect-headers
      """,
      absent(
        "dlstore follows redirects to http and https, and sends a login only to its own server"
      )
    ),
    ("--head --simulate --use-head", words("--dry-run")),
    (
      """
      -X -G -F --request --request-target --get --data* --json --form* --post-* --method \
      --body-* --upload-file --url-query --expect100-timeout --append
      """,
      absent("dlstore only sends GET requests without a body")
    ),
    (
      "--compressed --compression --raw --tr-encoding --http-accept-gzip",
      absent("dlstore asks for the file as it is, without compression")
    ),
    (
      """
      -0 --http0.9 --http1.0 --http1.1 --http2* --http3* --no-http-keep-alive --keepalive-time \
      --no-keepalive --enable-http-*
      """,
      absent("dlstore has no option for the version of HTTP; --transport NAME chooses the client")
    ),
    (
      "--ignore-length --ignore-content-length",
      absent("dlstore needs the length that the server states")
    ),
    ("-r --recursive -np -p --no-parent --level", absent(ShortOption.links)),
    (
      """
      --mirror-site --convert-* --page-requisites --backup-converted --accept* --reject* \
      --domains --exclude-* --include-* --follow-* --ignore-tags --span-hosts --relative \
      --regex-type --force-html --base --delete-after --strict-comments --retr-symlinks \
      --no-playlist --yes-playlist --format-sort --remote-encoding --local-encoding --no-iri \
      --rejected-log
      """,
      absent(ShortOption.links)
    ),

    // TLS, proxies and addresses
    (
      "--insecure --no-check-certificate --check-certificate --no-check-certificates",
      absent(trust)
    ),
    (
      """
      --capath --ca-directory --crlfile --crl-file --cert-status \
      --ssl-no-revoke
      """,
      absent(trust)
    ),
    ("--pinnedpubkey", named("--pinned-key", "sha256//BASE64")),
    ("--cacert --ca-file --ca-certificates", named("--ca-certificate", "FILE")),
    ("--cert --certificate", named("--client-certificate", "FILE")),
    ("--private-key", named("--client-key", "FILE")),
    (
      "--cert-type --key-type --certificate-type --private-key-type --pass",
      absent("dlstore reads certificates and keys from PEM files without a password")
    ),
    (
      """
      --tls* --ssl* --ciphers --curves --secure-protocol --min-tls-version --no-alpn --no-npn \
      --no-sessionid --false-start --engine --egd-file --random-file
      """,
      absent("dlstore uses TLS 1.2 or later; --tls-min 1.3 requires that version")
    ),
    ("--hsts* --no-hsts --alt-svc", absent("dlstore requests each URL as it is given")),
    ("--all-proxy --https-proxy --http-proxy", named("--proxy", "URL")),
    (
      "--preproxy --socks* --proxy1.0",
      absent("use --proxy URL, such as --proxy socks5://host:1080")
    ),
    (
      """
      --proxy-user --proxy-password --proxy-pass* --all-proxy-* --http-proxy-* --https-proxy-*
      """,
      absent("write the login into the URL: --proxy http://user:password@host:port")
    ),
    (
      "--no-proxy --noproxy",
      absent("set no_proxy in the environment, such as no_proxy=localhost,example.com")
    ),
    ("--proxytunnel --proxy-*", absent("dlstore has only --proxy URL for proxies")),
    (
      """
      --prefer-family --multiple-interface --connect-to --dns-* --doh-* \
      --no-dns-cache --local-port --async-dns* --enable-async-dns6 --happy-eyeballs-* \
      --abstract-unix-socket --unix-socket --tcp-fastopen --haproxy-protocol --dscp \
      --socket-recv-buffer-size
      """,
      absent("use --ipv4, --ipv6, --interface ADDRESS or --resolve HOST:PORT:ADDRESS")
    ),
    ("--inet4-only --force-ipv4 --disable-ipv6", words("--ipv4")),
    ("--inet6-only --force-ipv6", words("--ipv6")),
    ("--bind-address --source-address", named("--interface", "ADDRESS")),

    // Programs, lists and output
    ("--on-download-complete --exec", named("--on-complete", "CMD")),
    ("--on-download-error", named("--on-error", "CMD")),
    ("--on-download-* --on-bt-*", absent("use --on-complete CMD, or --on-error CMD")),
    ("--pause", words("--paused")),
    ("--background --daemon", absent(ShortOption.background)),
    ("-D", absent("\(ShortOption.background); --verbose shows what a server answers")),
    (
      """
      --save-session* --auto-save-interval --force-save --gid --conf-path --deferred-input \
      --batch-file --parameterized-uri --execute --save-not-found \
      --keep-unfinished-download-result --max-download-result
      """,
      absent("dlstore stores each download by itself; --input-file FILE adds a list")
    ),
    ("-M --metalink-file", named("--metalink", "FILE")),
    ("--metalink-*", absent("use --metalink FILE, and --metalink-location for countries")),
    (
      """
      --write-out --server-response --dump-header --save-headers --include --styled-output \
      --print
      """,
      absent("use --json-events, or 'inspect' after the download")
    ),
    (
      """
      --log-level --console-log-level --report-speed --summary-interval --download-result \
      --truncate-console-readout
      """,
      absent("use --quiet or --no-progress for less, --verbose for more")
    ),
    ("--trace* --debug --libcurl", absent("use --verbose")),
    ("--human-readable", absent("sizes are written for people; --format json has exact numbers")),
    ("-w", absent("use --json-events or the exit status; 'list --watch' shows what changes")),
    ("--watch --follow", absent("use 'list --watch'")),
    (
      """
      --content-on-error --event-poll --max-mmap-limit --no-file-allocation-limit \
      --rlimit-nofile --server-stat-* --stream-piece-selector --uri-selector
      """,
      absent("dlstore decides this by itself")
    ),
    ("--manual", absent("use --help")),
    ("--sort-by --order-by", named("--sort", "FIELD")),
    ("--filter --grep --name", absent("use --match GLOB, --state, --tag or --host")),
    ("--selector --label", absent("use --tag TAG")),
    ("--failed", words("--state failed")),
    ("--completed --finished", words("--state completed")),
    ("--running", words("--state running")),
    ("--retry-failed", absent("use 'dlstore retry', which retries failed downloads")),

    // What dlstore does not do
    (
      "--ftp* --no-passive-ftp --disable-ep* --krb --quote --list-only",
      absent("dlstore downloads by http and https only")
    ),
    (
      """
      --tftp* --mail-* --hostpub* --pubkey --ssh-* --compressed-ssh --telnet-option \
      --service-name
      """,
      absent("dlstore downloads by http and https only")
    ),
    (
      """
      --bt-* --dht-* --enable-dht* --seed-* --peer-* --enable-peer-exchange --listen-port \
      --torrent-file --max-upload-limit --max-overall-upload-limit --pause-metadata
      """,
      absent("dlstore does not download torrents")
    ),
    ("--show-files --select-file --index-out", absent("dlstore does not download torrents")),
    (
      "--rpc-* --enable-rpc",
      absent("any program can run 'add' and 'list --format json' while 'run' works")
    ),
    ("--warc-* --no-warc-*", absent("dlstore does not write archives")),
  ]

  private static let bars = "progress bars are shown on a terminal; --no-progress has none"

  private static let trust = "name the certificate to trust with --ca-certificate FILE"

  /// The hint for a wait between downloads.
  static let wait =
    "dlstore does not wait between downloads; use --per-host N or --limit-rate BYTES"
}
