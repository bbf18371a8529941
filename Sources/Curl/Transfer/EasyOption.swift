import CBeagleNetCurl

// The libcurl options that we set, grouped by value type so that the compiler rejects a call to the wrong setter:
// one table, therefore in one file. A test compares each group with the result of `curl_easy_option_by_id`.

/// Options that take a `long`.
enum LongOption: CaseIterable {
    case noSignal, quickExit, httpVersion, pipeWait, noBody, upload, freshConnect, forbidReuse
    case connectTimeout, sslVersion, bufferSize, connectOnly, verbose, expectTimeout
    case tunnelsEverything, proxyFieldsApart, proxySSLVersion, sslOptions, ipVersion, localPort, localPortCount
    case keepAlive, keepAliveIdle, keepAliveInterval, maxIdleAge, maxAge, happyEyeballsDelay

    var id: CURLoption {
        switch self {
        case .noSignal: CURLOPT_NOSIGNAL
        case .quickExit: CURLOPT_QUICK_EXIT
        case .httpVersion: CURLOPT_HTTP_VERSION
        case .pipeWait: CURLOPT_PIPEWAIT
        case .noBody: CURLOPT_NOBODY
        case .upload: CURLOPT_UPLOAD
        case .freshConnect: CURLOPT_FRESH_CONNECT
        case .forbidReuse: CURLOPT_FORBID_REUSE
        case .connectTimeout: CURLOPT_CONNECTTIMEOUT_MS
        case .sslVersion: CURLOPT_SSLVERSION
        case .expectTimeout: CURLOPT_EXPECT_100_TIMEOUT_MS
        case .bufferSize: CURLOPT_BUFFERSIZE
        case .verbose: CURLOPT_VERBOSE
        case .connectOnly: CURLOPT_CONNECT_ONLY
        case .tunnelsEverything: CURLOPT_HTTPPROXYTUNNEL
        case .proxyFieldsApart: CURLOPT_HEADEROPT
        case .proxySSLVersion: CURLOPT_PROXY_SSLVERSION
        case .sslOptions: CURLOPT_SSL_OPTIONS
        case .ipVersion: CURLOPT_IPRESOLVE
        case .localPort: CURLOPT_LOCALPORT
        case .localPortCount: CURLOPT_LOCALPORTRANGE
        case .keepAlive: CURLOPT_TCP_KEEPALIVE
        case .keepAliveIdle: CURLOPT_TCP_KEEPIDLE
        case .keepAliveInterval: CURLOPT_TCP_KEEPINTVL
        case .maxIdleAge: CURLOPT_MAXAGE_CONN
        case .maxAge: CURLOPT_MAXLIFETIME_CONN
        case .happyEyeballsDelay: CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS
        }
    }
}

/// Options that take a `curl_off_t`.
enum OffsetOption: CaseIterable {
    case uploadSize, sendRate

    var id: CURLoption {
        switch self {
        case .uploadSize: CURLOPT_INFILESIZE_LARGE
        case .sendRate: CURLOPT_MAX_SEND_SPEED_LARGE
        }
    }
}

/// Options that take a string, which libcurl copies.
enum StringOption: CaseIterable {
    case url, requestTarget, method, caFile, caPath
    case proxy, proxyExceptions, proxyUser, proxyPassword, proxyCAFile, proxyCAPath
    case certificate, certificateForm, key, passphrase, pins, ciphers, ciphersOfTLS13, unixSocket, interface

    var id: CURLoption {
        switch self {
        case .url: CURLOPT_URL
        case .requestTarget: CURLOPT_REQUEST_TARGET
        case .method: CURLOPT_CUSTOMREQUEST
        case .caFile: CURLOPT_CAINFO
        case .caPath: CURLOPT_CAPATH
        case .proxy: CURLOPT_PROXY
        case .proxyExceptions: CURLOPT_NOPROXY
        case .proxyUser: CURLOPT_PROXYUSERNAME
        case .proxyPassword: CURLOPT_PROXYPASSWORD
        case .proxyCAFile: CURLOPT_PROXY_CAINFO
        case .proxyCAPath: CURLOPT_PROXY_CAPATH
        case .certificate: CURLOPT_SSLCERT
        case .certificateForm: CURLOPT_SSLCERTTYPE
        case .key: CURLOPT_SSLKEY
        case .passphrase: CURLOPT_KEYPASSWD
        case .pins: CURLOPT_PINNEDPUBLICKEY
        case .ciphers: CURLOPT_SSL_CIPHER_LIST
        case .ciphersOfTLS13: CURLOPT_TLS13_CIPHERS
        case .unixSocket: CURLOPT_UNIX_SOCKET_PATH
        case .interface: CURLOPT_INTERFACE
        }
    }
}

/// Options that take bytes, which libcurl copies.
enum BlobOption: CaseIterable {
    case authorities, proxyAuthorities, certificate, key

    var id: CURLoption {
        switch self {
        case .authorities: CURLOPT_CAINFO_BLOB
        case .proxyAuthorities: CURLOPT_PROXY_CAINFO_BLOB
        case .certificate: CURLOPT_SSLCERT_BLOB
        case .key: CURLOPT_SSLKEY_BLOB
        }
    }
}

/// Options that take a pointer, which libcurl passes back to us.
enum PointerOption: CaseIterable {
    case owner, bodyContext, headContext, uploadContext, seekContext, openContext, closeContext, requestContext
    case errorText, parsedURL, debugContext, resolveContext, handshakeContext, share

    var id: CURLoption {
        switch self {
        case .owner: CURLOPT_PRIVATE
        case .bodyContext: CURLOPT_WRITEDATA
        case .headContext: CURLOPT_HEADERDATA
        case .uploadContext: CURLOPT_READDATA
        case .seekContext: CURLOPT_SEEKDATA
        case .openContext: CURLOPT_OPENSOCKETDATA
        case .closeContext: CURLOPT_CLOSESOCKETDATA
        case .requestContext: CURLOPT_PREREQDATA
        case .errorText: CURLOPT_ERRORBUFFER
        case .resolveContext: CURLOPT_RESOLVER_START_DATA
        case .handshakeContext: CURLOPT_SSL_CTX_DATA
        case .parsedURL: CURLOPT_CURLU
        case .debugContext: CURLOPT_DEBUGDATA
        case .share: CURLOPT_SHARE
        }
    }
}

/// Options that take a list, which must live as long as the handle.
enum ListOption: CaseIterable {
    case fields, proxyFields, overrides, resolve

    var id: CURLoption {
        switch self {
        case .fields: CURLOPT_HTTPHEADER
        case .resolve: CURLOPT_RESOLVE
        case .proxyFields: CURLOPT_PROXYHEADER
        case .overrides: CURLOPT_CONNECT_TO
        }
    }
}

/// Options that take a callback with the signature of `fread`.
enum DataCallbackOption: CaseIterable {
    case body, head, upload

    var id: CURLoption {
        switch self {
        case .body: CURLOPT_WRITEFUNCTION
        case .head: CURLOPT_HEADERFUNCTION
        case .upload: CURLOPT_READFUNCTION
        }
    }
}
