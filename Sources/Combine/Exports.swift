// One import is enough for what the seeds show: publishers, URLSession, and Relay's words.
@_exported public import BeagleNetGraphQL
@_exported public import BeagleNetURLSession
#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
#if canImport(Combine)
    @_exported public import Combine
#else
    @_exported public import OpenCombine
    @_exported public import OpenCombineDispatch
#endif
