import CBeagleNetCurl

// The options we set, grouped by the type of their value, so that none goes through the setter of another type.
// A test compares each group with what `curl_easy_option_by_id` says.

/// Options that take a `long`.
enum LongOption: CaseIterable {
    case noSignal, quickExit, httpVersion, pipeWait, noBody, upload, freshConnect, forbidReuse, suppressConnectHeaders
    case connectTimeout, sslVersion, pathAsIs

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
        case .suppressConnectHeaders: CURLOPT_SUPPRESS_CONNECT_HEADERS
        case .connectTimeout: CURLOPT_CONNECTTIMEOUT_MS
        case .sslVersion: CURLOPT_SSLVERSION
        case .pathAsIs: CURLOPT_PATH_AS_IS
        }
    }
}

/// Options that take a `curl_off_t`.
enum OffsetOption: CaseIterable {
    case uploadSize

    var id: CURLoption {
        switch self {
        case .uploadSize: CURLOPT_INFILESIZE_LARGE
        }
    }
}

/// Options that take a string, which libcurl copies.
enum StringOption: CaseIterable {
    case url, requestTarget, method, caFile, caPath

    var id: CURLoption {
        switch self {
        case .url: CURLOPT_URL
        case .requestTarget: CURLOPT_REQUEST_TARGET
        case .method: CURLOPT_CUSTOMREQUEST
        case .caFile: CURLOPT_CAINFO
        case .caPath: CURLOPT_CAPATH
        }
    }
}

/// Options that take a pointer, which libcurl hands back.
enum PointerOption: CaseIterable {
    case owner, bodyContext, headContext, uploadContext, seekContext, openContext, closeContext, requestContext
    case errorText

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
        }
    }
}

/// Options that take a list, which has to live as long as the handle.
enum ListOption: CaseIterable {
    case fields

    var id: CURLoption {
        switch self {
        case .fields: CURLOPT_HTTPHEADER
        }
    }
}

/// Options that take a function of the shape of `fread`.
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
