// The service Controller: volumes and snapshots of this node.

import CSIProtocol
import GRPCCore
import SandboxModel
import SwiftProtobuf
import Volumes

struct ControllerService: Csi_V1_Controller.SimpleServiceProtocol {
    private let store: VolumeStore
    private let node: String
    private let identifiers: Identifiers

    init(_ store: VolumeStore, node: String) {
        (self.store, self.node) = (store, node)
        identifiers = Identifiers(node: node)
    }

    private var topology: Csi_V1_Topology { .with { $0.segments = [Driver.topologyKey: node] } }

    func controllerGetCapabilities(
        request: Csi_V1_ControllerGetCapabilitiesRequest, context: ServerContext
    ) async throws -> Csi_V1_ControllerGetCapabilitiesResponse {
        let types: [Csi_V1_ControllerServiceCapability.RPC.TypeEnum] = [
            .createDeleteVolume, .listVolumes, .getCapacity, .createDeleteSnapshot, .listSnapshots, .cloneVolume,
            .singleNodeMultiWriter,
        ]
        return .with { $0.capabilities = types.map { type in .with { $0.rpc.type = type } } }
    }

    // MARK: Volumes

    func createVolume(
        request: Csi_V1_CreateVolumeRequest, context: ServerContext
    ) async throws -> Csi_V1_CreateVolumeResponse {
        guard !request.name.isEmpty else { throw RPCError.missing("name") }
        try request.volumeCapabilities.requirePossible()
        if request.hasAccessibilityRequirements, !request.accessibilityRequirements.requisite.isEmpty,
            !request.accessibilityRequirements.requisite.contains(topology)
        {
            throw RPCError(code: .resourceExhausted, message: "the volume is wanted on other nodes than \(node)")
        }
        let name = VolumeParameters.name(for: request.name)
        let options = try VolumeParameters.options(of: request, identifiers)
        try await answering { () async throws(Complaint) in try await store.create(name, options: options) }
        return .with {
            $0.volume = .with {
                $0.volumeID = identifiers.identifier(of: name)
                $0.capacityBytes = options["capacity"].flatMap { Int64($0) } ?? 0
                if request.hasVolumeContentSource { $0.contentSource = request.volumeContentSource }
                $0.accessibleTopology = [topology]
            }
        }
    }

    func deleteVolume(
        request: Csi_V1_DeleteVolumeRequest, context: ServerContext
    ) async throws -> Csi_V1_DeleteVolumeResponse {
        guard !request.volumeID.isEmpty else { throw RPCError.missing("volume_id") }
        guard let name = try identifiers.removed(request.volumeID, "volume") else { return .init() }
        try await answering { () async throws(Complaint) in try await store.remove(name) }
        return .init()
    }

    func validateVolumeCapabilities(
        request: Csi_V1_ValidateVolumeCapabilitiesRequest, context: ServerContext
    ) async throws -> Csi_V1_ValidateVolumeCapabilitiesResponse {
        guard !request.volumeID.isEmpty else { throw RPCError.missing("volume_id") }
        guard !request.volumeCapabilities.isEmpty else { throw RPCError.missing("volume_capabilities") }
        let name = try identifiers.required(request.volumeID, "volume")
        _ = try await answering { () async throws(Complaint) in try store.volume(name) }
        if let flaw = request.volumeCapabilities.lazy.compactMap(\.flaw).first {
            return .with { $0.message = flaw }
        }
        return .with {
            $0.confirmed = .with {
                $0.volumeContext = request.volumeContext
                $0.volumeCapabilities = request.volumeCapabilities
                $0.parameters = request.parameters
            }
        }
    }

    func listVolumes(
        request: Csi_V1_ListVolumesRequest, context: ServerContext
    ) async throws -> Csi_V1_ListVolumesResponse {
        let page = try Page(store.volumes, by: \.name, from: request.startingToken, most: request.maxEntries)
        return .with {
            $0.entries = page.entries.map { volume in
                .with {
                    $0.volume = .with {
                        $0.volumeID = identifiers.identifier(of: volume.name)
                        $0.accessibleTopology = [topology]
                    }
                }
            }
            $0.nextToken = page.next
        }
    }

    func getCapacity(
        request: Csi_V1_GetCapacityRequest, context: ServerContext
    ) async throws -> Csi_V1_GetCapacityResponse {
        let isElsewhere = request.hasAccessibleTopology && request.accessibleTopology != topology
        let isImpossible = request.volumeCapabilities.contains { $0.flaw != nil }
        return .with { $0.availableCapacity = isElsewhere || isImpossible ? 0 : store.availableSpace }
    }

    // MARK: Snapshots

    func createSnapshot(
        request: Csi_V1_CreateSnapshotRequest, context: ServerContext
    ) async throws -> Csi_V1_CreateSnapshotResponse {
        guard !request.sourceVolumeID.isEmpty else { throw RPCError.missing("source_volume_id") }
        guard !request.name.isEmpty else { throw RPCError.missing("name") }
        let name = VolumeParameters.name(for: request.name)
        let source = try identifiers.required(request.sourceVolumeID, "volume")
        let snapshot = try await answering { () async throws(Complaint) in
            try await store.createSnapshot(name, of: source)
        }
        return .with { $0.snapshot = shown(snapshot) }
    }

    func deleteSnapshot(
        request: Csi_V1_DeleteSnapshotRequest, context: ServerContext
    ) async throws -> Csi_V1_DeleteSnapshotResponse {
        guard !request.snapshotID.isEmpty else { throw RPCError.missing("snapshot_id") }
        guard let name = try identifiers.removed(request.snapshotID, "snapshot") else { return .init() }
        try await answering { () async throws(Complaint) in try await store.removeSnapshot(name) }
        return .init()
    }

    func listSnapshots(
        request: Csi_V1_ListSnapshotsRequest, context: ServerContext
    ) async throws -> Csi_V1_ListSnapshotsResponse {
        let wanted = store.snapshots.filter { snapshot in
            (request.snapshotID.isEmpty || snapshot.name == identifiers.name(of: request.snapshotID))
                && (request.sourceVolumeID.isEmpty || snapshot.volume == identifiers.name(of: request.sourceVolumeID))
        }
        let page = try Page(wanted, by: \.name, from: request.startingToken, most: request.maxEntries)
        return .with {
            $0.entries = page.entries.map { snapshot in .with { $0.snapshot = shown(snapshot) } }
            $0.nextToken = page.next
        }
    }

    private func shown(_ snapshot: VolumeStore.Snapshot) -> Csi_V1_Snapshot {
        .with {
            $0.snapshotID = identifiers.identifier(of: snapshot.name)
            $0.sourceVolumeID = identifiers.identifier(of: snapshot.volume)
            $0.sizeBytes = snapshot.capacity
            $0.creationTime = Google_Protobuf_Timestamp(
                seconds: snapshot.created / 1_000_000_000, nanos: Int32(snapshot.created % 1_000_000_000))
            $0.readyToUse = true
        }
    }
}
