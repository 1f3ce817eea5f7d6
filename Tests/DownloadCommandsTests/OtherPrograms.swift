/// The long options of other programs, and those of wget with two letters, as their help lists them.
enum OtherPrograms {
  /// Those of curl 7.88.
  static let curl = """
    --abstract-unix-socket --alt-svc --anyauth --append --aws-sigv4 --basic --cacert \
    --capath --cert --cert-status --cert-type --ciphers --compressed --compressed-ssh \
    --config --connect-timeout --connect-to --continue-at --cookie --cookie-jar \
    --create-dirs --create-file-mode --crlf --crlfile --curves --data --data-ascii \
    --data-binary --data-raw --data-urlencode --delegation --digest --disable --disable-eprt \
    --disable-epsv --disallow-username-in-url --dns-interface --dns-ipv4-addr \
    --dns-ipv6-addr --dns-servers --doh-cert-status --doh-insecure --doh-url --dump-header \
    --egd-file --engine --etag-compare --etag-save --expect100-timeout --fail --fail-early \
    --fail-with-body --false-start --form --form-escape --form-string --ftp-account \
    --ftp-alternative-to-user --ftp-create-dirs --ftp-method --ftp-pasv --ftp-port \
    --ftp-pret --ftp-skip-pasv-ip --ftp-ssl-ccc --ftp-ssl-ccc-mode --ftp-ssl-control --get \
    --globoff --happy-eyeballs-timeout-ms --haproxy-protocol --head --header --help \
    --hostpubmd5 --hostpubsha256 --hsts --http0.9 --http1.0 --http1.1 --http2 \
    --http2-prior-knowledge --http3 --http3-only --ignore-content-length --include \
    --insecure --interface --ipv4 --ipv6 --json --junk-session-cookies --keepalive-time \
    --key --key-type --krb --libcurl --limit-rate --list-only --local-port --location \
    --location-trusted --login-options --mail-auth --mail-from --mail-rcpt \
    --mail-rcpt-allowfails --manual --max-filesize --max-redirs --max-time --metalink \
    --negotiate --netrc --netrc-file --netrc-optional --next --no-alpn --no-buffer \
    --no-clobber --no-keepalive --no-npn --no-progress-meter --no-sessionid --noproxy --ntlm \
    --ntlm-wb --oauth2-bearer --output --output-dir --parallel --parallel-immediate \
    --parallel-max --pass --path-as-is --pinnedpubkey --post301 --post302 --post303 \
    --preproxy --progress-bar --proto --proto-default --proto-redir --proxy --proxy-anyauth \
    --proxy-basic --proxy-cacert --proxy-capath --proxy-cert --proxy-cert-type \
    --proxy-ciphers --proxy-crlfile --proxy-digest --proxy-header --proxy-insecure \
    --proxy-key --proxy-key-type --proxy-negotiate --proxy-ntlm --proxy-pass \
    --proxy-pinnedpubkey --proxy-service-name --proxy-ssl-allow-beast \
    --proxy-ssl-auto-client-cert --proxy-tls13-ciphers --proxy-tlsauthtype \
    --proxy-tlspassword --proxy-tlsuser --proxy-tlsv1 --proxy-user --proxy1.0 --proxytunnel \
    --pubkey --quote --random-file --range --rate --raw --referer --remote-header-name \
    --remote-name --remote-name-all --remote-time --remove-on-error --request \
    --request-target --resolve --retry --retry-all-errors --retry-connrefused --retry-delay \
    --retry-max-time --sasl-authzid --sasl-ir --service-name --show-error --silent --socks4 \
    --socks4a --socks5 --socks5-basic --socks5-gssapi --socks5-gssapi-nec \
    --socks5-gssapi-service --socks5-hostname --speed-limit --speed-time --ssl \
    --ssl-allow-beast --ssl-auto-client-cert --ssl-no-revoke --ssl-reqd \
    --ssl-revoke-best-effort --sslv2 --sslv3 --stderr --styled-output \
    --suppress-connect-headers --tcp-fastopen --tcp-nodelay --telnet-option --tftp-blksize \
    --tftp-no-options --time-cond --tls-max --tls13-ciphers --tlsauthtype --tlspassword \
    --tlsuser --tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 --tr-encoding --trace \
    --trace-ascii --trace-time --unix-socket --upload-file --url --url-query --use-ascii \
    --user --user-agent --verbose --version --write-out --xattr
    """

  /// Those of wget 1.21.
  static let wget = """
    --accept --accept-regex --adjust-extension --append-output --ask-password \
    --auth-no-challenge --background --backup-converted --backups --base --bind-address \
    --body-data --body-file --ca-certificate --ca-directory --certificate --certificate-type \
    --ciphers --compression --config --connect-timeout --content-disposition \
    --content-on-error --continue --convert-file-only --convert-links --crl-file --cut-dirs \
    --debug --default-page --delete-after --directory-prefix --dns-timeout --domains \
    --exclude-directories --exclude-domains --execute --follow-ftp --follow-tags \
    --force-directories --force-html --ftp-password --ftp-user --ftps-clear-data-connection \
    --ftps-fallback-to-ftp --ftps-implicit --ftps-resume-ssl --header --help --hsts-file \
    --http-password --http-user --https-only --ignore-case --ignore-length --ignore-tags \
    --include-directories --inet4-only --inet6-only --input-file --keep-session-cookies \
    --level --limit-rate --load-cookies --local-encoding --max-redirect --method --mirror \
    --no-cache --no-check-certificate --no-clobber --no-config --no-cookies --no-directories \
    --no-dns-cache --no-glob --no-host-directories --no-hsts --no-http-keep-alive \
    --no-if-modified-since --no-iri --no-netrc --no-parent --no-passive-ftp --no-proxy \
    --no-remove-listing --no-use-server-timestamps --no-verbose --no-warc-compression \
    --no-warc-digests --no-warc-keep-log --output-document --output-file --page-requisites \
    --password --pinnedpubkey --post-data --post-file --prefer-family --preserve-permissions \
    --private-key --private-key-type --progress --protocol-directories --proxy-password \
    --proxy-user --quiet --quota --random-wait --read-timeout --recursive --referer \
    --regex-type --reject --reject-regex --rejected-log --relative --remote-encoding \
    --report-speed --restrict-file-names --retr-symlinks --retry-connrefused \
    --retry-on-http-error --save-cookies --save-headers --secure-protocol --server-response \
    --show-progress --span-hosts --spider --start-pos --strict-comments --timeout \
    --timestamping --tries --trust-server-names --unlink --use-askpass --user --user-agent \
    --verbose --version --wait --waitretry --warc-cdx --warc-dedup --warc-file --warc-header \
    --warc-max-size --warc-tempdir --xattr -nH -nc -nd -np -nv
    """

  /// Those of aria2c 1.36.
  static let aria2c = """
    --all-proxy --all-proxy-passwd --all-proxy-user --allow-overwrite \
    --allow-piece-length-change --always-resume --async-dns --async-dns-server \
    --auto-file-renaming --auto-save-interval --bt-detach-seed-only \
    --bt-enable-hook-after-hash-check --bt-enable-lpd --bt-exclude-tracker --bt-external-ip \
    --bt-force-encryption --bt-hash-check-seed --bt-load-saved-metadata --bt-lpd-interface \
    --bt-max-open-files --bt-max-peers --bt-metadata-only --bt-min-crypto-level \
    --bt-prioritize-piece --bt-remove-unselected-file --bt-request-peer-speed-limit \
    --bt-require-crypto --bt-save-metadata --bt-seed-unverified --bt-stop-timeout \
    --bt-tracker --bt-tracker-connect-timeout --bt-tracker-interval --bt-tracker-timeout \
    --ca-certificate --certificate --check-certificate --check-integrity --checksum \
    --conditional-get --conf-path --connect-timeout --console-log-level \
    --content-disposition-default-utf8 --continue --daemon --deferred-input \
    --dht-entry-point --dht-entry-point6 --dht-file-path --dht-file-path6 --dht-listen-addr6 \
    --dht-listen-port --dht-message-timeout --dir --disable-ipv6 --disk-cache \
    --download-result --dry-run --dscp --enable-async-dns6 --enable-color --enable-dht \
    --enable-dht6 --enable-http-keep-alive --enable-http-pipelining --enable-mmap \
    --enable-peer-exchange --enable-rpc --event-poll --file-allocation --follow-metalink \
    --follow-torrent --force-save --force-sequential --ftp-passwd --ftp-pasv --ftp-proxy \
    --ftp-proxy-passwd --ftp-proxy-user --ftp-reuse-connection --ftp-type --ftp-user --gid \
    --hash-check-only --header --help --http-accept-gzip --http-auth-challenge \
    --http-no-cache --http-passwd --http-proxy --http-proxy-passwd --http-proxy-user \
    --http-user --https-proxy --https-proxy-passwd --https-proxy-user --human-readable \
    --index-out --input-file --interface --keep-unfinished-download-result --listen-port \
    --load-cookies --log --log-level --lowest-speed-limit --max-concurrent-downloads \
    --max-connection-per-server --max-download-limit --max-download-result \
    --max-file-not-found --max-mmap-limit --max-overall-download-limit \
    --max-overall-upload-limit --max-resume-failure-tries --max-tries --max-upload-limit \
    --metalink-base-uri --metalink-enable-unique-protocol --metalink-file \
    --metalink-language --metalink-location --metalink-os --metalink-preferred-protocol \
    --metalink-version --min-split-size --min-tls-version --multiple-interface --netrc-path \
    --no-conf --no-file-allocation-limit --no-netrc --no-proxy --on-bt-download-complete \
    --on-download-complete --on-download-error --on-download-pause --on-download-start \
    --on-download-stop --optimize-concurrent-downloads --out --parameterized-uri --pause \
    --pause-metadata --peer-agent --peer-id-prefix --piece-length --private-key \
    --proxy-method --quiet --realtime-chunk-checksum --referer --remote-time \
    --remove-control-file --retry-wait --reuse-uri --rlimit-nofile --rpc-allow-origin-all \
    --rpc-certificate --rpc-listen-all --rpc-listen-port --rpc-max-request-size --rpc-passwd \
    --rpc-private-key --rpc-save-upload-metadata --rpc-secret --rpc-secure --rpc-user \
    --save-cookies --save-not-found --save-session --save-session-interval --seed-ratio \
    --seed-time --select-file --server-stat-if --server-stat-of --server-stat-timeout \
    --show-console-readout --show-files --socket-recv-buffer-size --split --ssh-host-key-md \
    --stderr --stop --stop-with-process --stream-piece-selector --summary-interval --timeout \
    --torrent-file --truncate-console-readout --uri-selector --use-head --user-agent \
    --version
    """
}
