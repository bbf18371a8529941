/// A value behind one reference, so that it costs little to hand on. It is copied when it is written while others hold it.
///
/// Inlinable, or each look from another module would be a call.
@usableFromInline
package struct CopyOnWrite<Value: Sendable>: Sendable {
    /// `@unchecked Sendable` is sound because `value` is written only by `CopyOnWrite.value`, which first sees to it that
    /// nobody else holds the box; all others read.
    @usableFromInline
    final class Box: @unchecked Sendable {
        // Unchecked, because nobody writes while another reads: a look would cost a call of the runtime.
        @exclusivity(unchecked) @usableFromInline var value: Value

        @inlinable
        init(_ value: Value) {
            self.value = value
        }
    }

    @usableFromInline var box: Box

    @inlinable
    package init(_ value: Value) {
        box = Box(value)
    }

    @inlinable package var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}
