import "@xyflow/react/dist/base.css";

import { Background, Panel, ReactFlow, ReactFlowProvider, useNodesState, useReactFlow, type OnNodeDrag } from "@xyflow/react";
import { Maximize, Minus, Plus } from "lucide-react";
import { useEffect, useState } from "react";

import type { Board, BoardCards, Zone } from "@/api/client";
import type { BoardChange } from "@/hooks/use-board-change";
import { Button } from "@/ui/button";
import { lying, zoneAt } from "@/util/board";
import type { Wish } from "@/util/placing";

import { Canvas as Context, NODE_TYPES, type CardNode, type ZoneNode } from "./nodes";

interface Props {
  /** The board as it is saved. */
  saved: Board;
  /** The board with everything where it was put, saved or not. */
  board: Board;
  cards: BoardCards;
  refused: string | undefined;
  onPlace: (wish: Wish) => void;
  onChange: (change: BoardChange) => Promise<unknown>;
  onEditZone: (zone: Zone) => void;
  onDeleteZone: (zone: Zone) => void;
}

type AnyNode = ZoneNode | CardNode;

/** The board as a plane: zones, and cards that are dragged into them. */
export function BoardCanvas(props: Props) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ saved, board, cards, refused, onPlace, onChange, onEditZone, onDeleteZone }: Props) {
  const [nodes, setNodes, onNodesChange] = useNodesState<AnyNode>([]);
  const [over, setOver] = useState<string>();
  const [undone, setUndone] = useState(0);
  const flow = useReactFlow<AnyNode>();
  // The board changes under the hands of others; what is being dragged stays in this one's.
  useEffect(() => {
    setNodes((shown) => nodesOf(board, cards).map((node) => kept(node, shown.find((other) => other.id === node.id))));
  }, [board, cards, undone, setNodes]);

  const middle = (node: AnyNode) => {
    const inner = flow.getInternalNode(node.id);
    const { x, y } = inner?.internals.positionAbsolute ?? node.position;
    return { x, y, middle: { x: x + (inner?.measured.width ?? 0) / 2, y: y + (inner?.measured.height ?? 0) / 2 } };
  };
  const save = (change: BoardChange) =>
    // The mutation reports the error; restore the saved positions.
    void onChange(change).catch(() => setUndone((count) => count + 1));
  const onResizeZone = (zone: Zone, rect: { x: number; y: number; width: number; height: number }) =>
    save({ zones: [{ zone: zone.id, ...rect }] });
  const onDrag: OnNodeDrag<AnyNode> = (_, node) => {
    if (node.type === "card") {
      setOver(zoneAt(board.zones, middle(node).middle)?.id);
    }
  };
  const onDropped: OnNodeDrag<AnyNode> = (_, node) => {
    setOver(undefined);
    const at = middle(node);
    if (node.type === "zone") {
      save(zoneMoved(saved, node.data.zone, at));
      return;
    }
    const { kind, id, session, worktree } = node.data.lying;
    const zone = zoneAt(board.zones, at.middle);
    const before = saved.items.find((item) => item.kind === kind && item.id === node.id)?.zone_id;
    const title = session?.title ?? worktree?.name ?? id;
    onPlace({ item: { kind, id }, title, x: at.x, y: at.y, zone, isNewZone: zone !== undefined && zone.id !== before });
  };
  return (
    <Context value={{ board, cards, refused, over, onPlace, onChange, onResizeZone, onEditZone, onDeleteZone }}>
      <ReactFlow<AnyNode>
        aria-label="Canvas"
        nodes={nodes}
        onNodesChange={onNodesChange}
        onNodeDrag={onDrag}
        onNodeDragStop={onDropped}
        nodeTypes={NODE_TYPES}
        nodesDraggable={!refused}
        nodesConnectable={false}
        nodesFocusable={false}
        elementsSelectable={false}
        // Keys would move cards without anybody being told; cards and zones have menus.
        disableKeyboardA11y
        deleteKeyCode={null}
        selectionKeyCode={null}
        fitView
        fitViewOptions={{ maxZoom: 1 }}
        minZoom={0.1}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <Zoom />
      </ReactFlow>
    </Context>
  );
}

function Zoom() {
  const flow = useReactFlow();
  return (
    <Panel position="bottom-left" className="flex gap-1">
      <Button aria-label="Zoom in" onClick={() => void flow.zoomIn()}>
        <Plus size={14} aria-hidden="true" />
      </Button>
      <Button aria-label="Zoom out" onClick={() => void flow.zoomOut()}>
        <Minus size={14} aria-hidden="true" />
      </Button>
      <Button aria-label="Show everything" onClick={() => void flow.fitView({ maxZoom: 1 })}>
        <Maximize size={14} aria-hidden="true" />
      </Button>
    </Panel>
  );
}

/** Zones first: what lies in one is a part of it, and moves with it. */
function nodesOf(board: Board, cards: BoardCards): AnyNode[] {
  const zones = board.zones.map(
    (zone): ZoneNode => ({
      id: zone.id,
      type: "zone",
      position: { x: zone.x, y: zone.y },
      width: zone.width,
      height: zone.height,
      data: { zone },
      dragHandle: ".zone-grip",
      zIndex: 0,
      // Between cards the canvas itself can be taken hold of.
      style: { pointerEvents: "none" },
    }),
  );
  const placed = lying(board, cards).map((one): CardNode => {
    const zone = board.zones.find((other) => other.id === one.placement.zone_id);
    const { x, y } = one.placement;
    return {
      id: one.placement.id,
      type: "card",
      position: zone ? { x: x - zone.x, y: y - zone.y } : { x, y },
      ...(zone && { parentId: zone.id }),
      data: { lying: one },
      zIndex: 10,
      // Cards have links, also for those who may not move them.
      style: { pointerEvents: "all" },
    };
  });
  return [...zones, ...placed];
}

/** What is known of a node beyond the board, and where it is while somebody holds it. */
function kept(node: AnyNode, shown: AnyNode | undefined): AnyNode {
  if (!shown) {
    return node;
  }
  const held = shown.dragging || (shown.type === "zone" && shown.resizing);
  const { measured } = shown;
  return {
    ...node,
    ...(measured && node.type === "card" && { measured }),
    ...(held && { position: shown.position, dragging: shown.dragging, width: shown.width, height: shown.height, resizing: shown.resizing }),
    ...(held && shown.parentId && { parentId: shown.parentId }),
  } as AnyNode;
}

/** A zone takes what lies in it along. */
function zoneMoved(board: Board, zone: Zone, to: { x: number; y: number }): BoardChange {
  const inside = board.items.filter((item) => item.zone_id === zone.id);
  return {
    zones: [{ zone: zone.id, x: to.x, y: to.y, width: zone.width, height: zone.height }],
    place: inside.map(({ kind, id, x, y }) => ({ kind, id, x: x + to.x - zone.x, y: y + to.y - zone.y, zone: zone.id })),
  };
}
