import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Whether the transfer's guard lets a hop connect.
extension Hop {
    /// A proxy would connect to addresses that the guard never sees; one that an option names is refused before.
    func configureGuard(_ extras: TransferOptions.Extras) throws(NetworkError) {
        if extras.addressGuard != nil { try require(easy.set(.proxyExceptions, "*")) }
    }

    /// Why no socket is opened for this address; nil where there is no guard, or it allows it.
    func guardsRefusal(of address: UnsafeMutablePointer<curl_sockaddr>) -> NetworkError? {
        guard let extras = request.options.extras, let addressGuard = extras.addressGuard else { return nil }
        guard let peer = IPAddress(of: address) else {
            return .blocked("the AddressGuard cannot check a Unix socket, which has no IP address")
        }
        return addressGuard.refusal(of: peer, host: host)
    }

    /// Why nothing is sent to this peer; nil where there is no guard, or it allows it.
    func guardsRefusal(of peer: UnsafePointer<CChar>?) -> NetworkError? {
        guard let extras = request.options.extras, let addressGuard = extras.addressGuard else { return nil }
        guard let peer, let address = IPAddress(String(cString: peer)) else {
            return .blocked("the AddressGuard cannot check the connection because its peer has no IP address")
        }
        return addressGuard.refusal(of: address, host: host)
    }

    private var host: String { Origin(of: request.head).host }
}

extension IPAddress {
    /// The address that libcurl wants a socket for; nil where it is no IP address.
    fileprivate init?(of address: UnsafeMutablePointer<curl_sockaddr>) {
        // The bytes of an address stand behind family and port (4 bytes), in IPv6 behind the flow label as well.
        let offset: Int
        let count: Int
        switch address.pointee.family {
        case AF_INET: (offset, count) = (4, 4)
        case AF_INET6: (offset, count) = (8, 16)
        default: return nil
        }
        // `addr` is the first of `addrlen` bytes: libcurl's struct goes on behind what it declares.
        guard let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr), Int(address.pointee.addrlen) >= offset + count
        else { return nil }
        self.init(UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + start + offset, count: count))
    }
}
