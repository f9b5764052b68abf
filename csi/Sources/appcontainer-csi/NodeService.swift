// The service Node: volumes in pods.

import CSIProtocol
import Foundation
import GRPCCore
import SandboxModel
import SwiftProtobuf
import Volumes

struct NodeService: Csi_V1_Node.SimpleServiceProtocol {
    private let store: VolumeStore
    private let node: String
    private let identifiers: Identifiers

    init(_ store: VolumeStore, node: String) {
        (self.store, self.node) = (store, node)
        identifiers = Identifiers(node: node)
    }

    func nodeGetInfo(
        request: Csi_V1_NodeGetInfoRequest, context: ServerContext
    ) async throws -> Csi_V1_NodeGetInfoResponse {
        .with {
            $0.nodeID = node
            $0.accessibleTopology = .with { $0.segments = [Driver.topologyKey: node] }
        }
    }

    func nodeGetCapabilities(
        request: Csi_V1_NodeGetCapabilitiesRequest, context: ServerContext
    ) async throws -> Csi_V1_NodeGetCapabilitiesResponse {
        .with {
            $0.capabilities = [.getVolumeStats, .singleNodeMultiWriter].map { type in .with { $0.rpc.type = type } }
        }
    }

    func nodePublishVolume(
        request: Csi_V1_NodePublishVolumeRequest, context: ServerContext
    ) async throws -> Csi_V1_NodePublishVolumeResponse {
        guard !request.volumeID.isEmpty else { throw RPCError.missing("volume_id") }
        guard !request.targetPath.isEmpty else { throw RPCError.missing("target_path") }
        guard request.targetPath.hasPrefix("/") else {
            throw RPCError(code: .invalidArgument, message: "target_path is no absolute path")
        }
        guard request.hasVolumeCapability else { throw RPCError.missing("volume_capability") }
        try request.volumeCapability.requirePossible()
        let context = request.volumeContext
        let isEphemeral = VolumeParameters.isEphemeral(context)
        let options = isEphemeral ? try VolumeParameters.options(ofPodsOwn: context) : [:]
        let name =
            isEphemeral
            ? VolumeParameters.name(ofPodsOwn: context, identifier: request.volumeID)
            : try identifiers.required(request.volumeID, "volume")
        let mode = request.volumeCapability.accessMode.mode
        try await answering { () async throws(Complaint) in
            if isEphemeral { try await store.create(name, options: options, isEphemeral: true) }
            try await store.publish(
                name, at: request.targetPath, isReadOnly: request.readonly || mode == .singleNodeReaderOnly,
                isAlone: mode == .singleNodeSingleWriter, passcode: VolumeParameters.passcode(of: request.secrets))
        }
        return .init()
    }

    func nodeUnpublishVolume(
        request: Csi_V1_NodeUnpublishVolumeRequest, context: ServerContext
    ) async throws -> Csi_V1_NodeUnpublishVolumeResponse {
        guard !request.volumeID.isEmpty else { throw RPCError.missing("volume_id") }
        guard !request.targetPath.isEmpty else { throw RPCError.missing("target_path") }
        try await answering { () async throws(Complaint) in
            // A volume of a pod's own has the orchestrator's identifier.
            let name = identifiers.name(of: request.volumeID) ?? request.volumeID
            try await store.unpublish(name, from: request.targetPath)
        }
        return .init()
    }

    func nodeGetVolumeStats(
        request: Csi_V1_NodeGetVolumeStatsRequest, context: ServerContext
    ) async throws -> Csi_V1_NodeGetVolumeStatsResponse {
        guard !request.volumeID.isEmpty else { throw RPCError.missing("volume_id") }
        guard !request.volumePath.isEmpty else { throw RPCError.missing("volume_path") }
        let space = try await answering { () async throws(Complaint) in
            try await store.space(at: request.volumePath)
        }
        return .with {
            $0.usage = [
                .with {
                    ($0.unit, $0.total, $0.available) = (.bytes, space.total, space.available)
                    $0.used = space.used
                },
                .with {
                    ($0.unit, $0.total, $0.available) = (.inodes, space.files, space.freeFiles)
                    $0.used = space.files - space.freeFiles
                },
            ]
        }
    }
}
