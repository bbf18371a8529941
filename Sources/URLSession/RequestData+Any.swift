public import BeagleNet
import Foundation

extension Request.RequestData {
    /// Creates a raw request whose body is a tree of Foundation JSON objects, including `NSNumber` and `NSNull`.
    ///
    /// The tree is converted immediately, so later changes to it have no effect.
    ///
    /// - Parameters:
    ///   - method: The method, `GET` by default.
    ///   - headers: The headers of this request.
    ///   - body: The tree; `nil` for no body. A value without a JSON form causes a build error that names its position.
    public init(method: String? = "GET", headers: [String: String]? = [:], body: Any?) {
        self.init(method: method, headers: headers)
        content = body.map { Request.Body.tree($0) }
    }
}

extension Request.Body {
    fileprivate static func tree(_ value: Any) -> Request.Body {
        if let body = value as? Request.Body { return body }
        do throws(NetworkError) {
            return .tree(try JSONTree(converting: value, leaf: JSONTree.ofFoundation))
        } catch {
            // In an array, because JSONSerialization crashes on a top-level value that it can't write.
            return .encodable([Unwritable(error: error)])
        }
    }
}

/// A placeholder that reports an unconvertible tree when the request is built.
private struct Unwritable: Encodable {
    let error: NetworkError

    func encode(to encoder: any Encoder) throws {
        throw error
    }
}

extension JSONTree {
    /// Checks the exact class, because a Swift number can be cast to `NSNumber`, and 1 would then become a Boolean.
    fileprivate static func ofFoundation(_ value: Any) -> JSONTree? {
        switch type(of: value) {
        case is NSNull.Type: .value(.null)
        case is NSString.Type: (value as? NSString).map { .value(.string($0.description)) }
        case is NSNumber.Type: (value as? NSNumber).flatMap(written)
        default: nil
        }
    }

    /// Returns the number as JSON text, or `nil` if JSON can't represent it. Only Foundation knows whether its number
    /// is a Boolean.
    private static func written(_ number: NSNumber) -> JSONTree? {
        guard JSONSerialization.isValidJSONObject([number]) else { return nil }
        do {
            let text = try JSONSerialization.data(withJSONObject: number, options: .fragmentsAllowed)
            return .literal(String(decoding: text, as: UTF8.self))
        } catch {
            return nil
        }
    }
}
