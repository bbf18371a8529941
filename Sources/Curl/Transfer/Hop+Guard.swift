import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The checks of the request's address guard.
extension Hop {
    /// Returns the reason to refuse a socket for this address, or `nil` if there is no guard or it allows the address.
    func addressGuardError(of address: UnsafeMutablePointer<curl_sockaddr>) -> NetworkError? {
        guard let extras = request.options.extras, let addressGuard = extras.addressGuard else { return nil }
        guard let peer = IPAddress(of: address) else {
            return .blocked("the AddressGuard cannot check a Unix socket, which has no IP address")
        }
        return addressGuard.refusal(of: peer, host: host)
    }

    /// Returns the reason to send nothing to this peer, or `nil` if there is no guard or it allows the address.
    func addressGuardError(of peer: UnsafePointer<CChar>?) -> NetworkError? {
        guard let extras = request.options.extras, let addressGuard = extras.addressGuard else { return nil }
        guard let peer, let address = IPAddress(String(cString: peer)) else {
            return .blocked("the AddressGuard cannot check the connection because its peer has no IP address")
        }
        return addressGuard.refusal(of: address, host: host)
    }

    private var host: String { Origin(of: request.head).host }
}

extension IPAddress {
    /// Creates the address that libcurl requests a socket for, or returns `nil` if it is not an IP address.
    fileprivate init?(of address: UnsafeMutablePointer<curl_sockaddr>) {
        // The address bytes follow family and port (4 bytes), and for IPv6 also the flow label.
        let offset: Int
        let count: Int
        switch address.pointee.family {
        case AF_INET: (offset, count) = (4, 4)
        case AF_INET6: (offset, count) = (8, 16)
        default: return nil
        }
        // `addr` is the first of `addrlen` bytes: libcurl's struct is larger than declared.
        guard let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr), Int(address.pointee.addrlen) >= offset + count
        else { return nil }
        self.init(UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + start + offset, count: count))
    }
}
