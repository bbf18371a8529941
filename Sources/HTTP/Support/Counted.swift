/// Returns a number with its noun, such as `1 byte`, `2 bytes` or `2 entries`.
///
/// - Parameter many: The plural, or `nil` if it is the singular with an `s`.
package func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    count == 1 ? "1 \(one)" : "\(count) \(many ?? "\(one)s")"
}
