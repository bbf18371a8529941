import BeagleNetHTTP
import CBeagleNetCurl

/// The metrics and the progress of a hop.
extension Hop {
    /// Sets the metrics of the hop alone.
    func setMetrics(_ metrics: inout TransferMetrics) {
        func mark(_ info: CURLINFO) -> Duration { .microseconds(easy.offset(info)) }
        metrics.isConnectionReused = attempts.count > 0 && easy.long(CURLINFO_NUM_CONNECTS) == 0
        if !metrics.isConnectionReused {
            metrics.nameLookup = mark(CURLINFO_NAMELOOKUP_TIME_T)
            metrics.connect = mark(CURLINFO_CONNECT_TIME_T)
            metrics.tlsHandshake = mark(CURLINFO_APPCONNECT_TIME_T)
        }
        sender.setMarks(
            of: &metrics,
            start: mark(CURLINFO_PRETRANSFER_TIME_T),
            firstByte: mark(CURLINFO_STARTTRANSFER_TIME_T),
            wasSent: attempts.count > 0
        )
        // Inside a callback, libcurl's total time is out of date.
        metrics.total = max(mark(CURLINFO_TOTAL_TIME_T), metrics.requestEnd, metrics.firstByte)
        metrics.headBytesSent = headBytesSent
        metrics.bytesSent = sender.bytesSent
        metrics.headBytesReceived = Int64(receiver.headBytes)
        metrics.bytesReceived = receiver.bytesReceived
        metrics.decodedBytes = receiver.decodedBytes
        metrics.protocolName = protocolName
        metrics.remoteAddress = connection?.remoteAddress ?? easy.remoteAddress
        metrics.localPort = easy.long(CURLINFO_LOCAL_PORT)
        metrics.details = details
        metrics.resends = max(0, attempts.count - 1)
    }

    private var protocolName: String {
        switch easy.long(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): "HTTP/1.0"
        case Int(CURL_HTTP_VERSION_1_1): "HTTP/1.1"
        case Int(CURL_HTTP_VERSION_2_0): "HTTP/2"
        case Int(CURL_HTTP_VERSION_3): "HTTP/3"
        default: ""
        }
    }

    /// The number of bytes of the request head in its last attempt.
    private var headBytesSent: Int64 {
        let sent = Int64(easy.long(CURLINFO_REQUEST_SIZE)) - attempts.bytesBefore
        return Self.countsBodies ? max(0, sent - easy.offset(CURLINFO_SIZE_UPLOAD_T)) : sent
    }

    /// Whether CURLINFO_REQUEST_SIZE of this libcurl includes the body: 8.14 does, 7.88 doesn't.
    private static let countsBodies: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST) else { return false }
        // The version that rewrote sending.
        return version.pointee.version_num >= 0x08_07_00
    }()

    /// The TLS parameters and the sent head; `nil` if there are neither.
    private var details: TransferMetrics.Details? {
        guard let head = sentHead?.head else { return wire.session }
        return TransferMetrics.Details(
            tlsVersion: wire.session?.tlsVersion ?? "",
            tlsCipher: wire.session?.tlsCipher ?? "",
            requestHead: head
        )
    }

    var progress: TransferRequest.Progress {
        TransferRequest.Progress(
            bytesSent: sender.bytesSent,
            bytesToSend: sender.source?.length,
            bytesReceived: receiver.bytesReceived,
            bytesToReceive: receiver.announcedLength
        )
    }
}
