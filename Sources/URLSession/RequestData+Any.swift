public import BeagleNet
import Foundation

extension Request.RequestData {
    /// A raw request whose body is a tree as Foundation's JSON calls take it, `NSNumber` and `NSNull` included.
    ///
    /// The tree is converted at once, so that what changes in it later is not sent.
    ///
    /// - Parameters:
    ///   - method: the method, `GET` by default.
    ///   - headers: headers of this request.
    ///   - body: the tree; nil is no body. What has no JSON form is a build error that names its place.
    public init(method: String? = "GET", headers: [String: String]? = [:], body: Any?) {
        self.init(method: method, headers: headers)
        content = body.map { RequestBody.tree($0) }
    }
}

extension RequestBody {
    fileprivate static func tree(_ value: Any) -> RequestBody {
        if let body = value as? RequestBody { return body }
        do throws(NetworkError) {
            return .tree(try JSONTree(converting: value, leaf: JSONTree.ofFoundation))
        } catch {
            // In an array, since JSONSerialization ends the process over a single value that it cannot write.
            return .encodable([Unwritable(error: error)])
        }
    }
}

/// Stands for a tree without a JSON form until the message is built.
private struct Unwritable: Encodable {
    let error: NetworkError

    func encode(to encoder: any Encoder) throws {
        throw error
    }
}

extension JSONTree {
    /// Asks for the very class: a number of Swift's would pass for an `NSNumber`, and 1 then for a truth value.
    fileprivate static func ofFoundation(_ value: Any) -> JSONTree? {
        switch type(of: value) {
        case is NSNull.Type: .value(.null)
        case is NSString.Type: (value as? NSString).map { .value(.string($0.description)) }
        case is NSNumber.Type: (value as? NSNumber).flatMap(written)
        default: nil
        }
    }

    /// Foundation alone knows whether a number of its own is a truth value. nil for one that JSON cannot write.
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
