// One queue discipline of ns-3 in front of a line, with arrivals that are given.
//
//   queue TYPE RATE_BPS SEED [NAME=VALUE ..] < arrivals
//
// TYPE is that of ns-3 without "QueueDisc" (CoDel, FqCoDel, Pie, Cobalt), NAME=VALUE its attributes. Each line of the input is
// one packet: time in ns, flow, bytes, and 1 if it is ECN-capable. The line takes one packet after the other; a packet that comes
// when it is free goes through the queue all the same. Prints a line for each fate: what happened, time in ns, ordinal of the packet.
//
// With device=PACKETS ns-3's own device is the line: a ring of so many, with dynamic limits of bytes whose hold time is hold=TIME.

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

static const uint16_t IP_TYPE = 0x0800;
// What the device puts in front of a packet.
static const uint32_t PPP_BYTES = 2;

class Item : public QueueDiscItem
{
  public:
    Item(Ptr<Packet> p, uint32_t ordinal, uint32_t flow, bool capable)
        : QueueDiscItem(p, Address(), IP_TYPE),
          m_ordinal(ordinal),
          m_flow(flow),
          m_capable(capable)
    {
    }

    void AddHeader() override
    {
    }

    bool Mark() override
    {
        return m_capable;
    }

    uint32_t Hash(uint32_t) const override
    {
        return m_flow;
    }

    const uint32_t m_ordinal;

  private:
    const uint32_t m_flow;
    const bool m_capable;
};

static Ptr<QueueDisc> g_queue;
static uint64_t g_rate;
static int64_t g_free_ns = 0;
static bool g_is_asked = false;
static Ptr<TrafficControlLayer> g_layer;
static Ptr<NetDevice> g_device;

static void
Say(const char* what, Ptr<const QueueDiscItem> item)
{
    std::cout << what << ' ' << Simulator::Now().GetNanoSeconds() << ' ' << DynamicCast<const Item>(item)->m_ordinal << '\n';
}

static void
Dropped(Ptr<const QueueDiscItem> item, const char*)
{
    Say("drop", item);
}

static void
Marked(Ptr<const QueueDiscItem> item, const char*)
{
    Say("mark", item);
}

static void
Serve()
{
    g_is_asked = false;
    Ptr<QueueDiscItem> item = g_queue->Dequeue();
    if (!item)
    {
        return;
    }
    Say("sent", item);
    const uint64_t bits = 8 * static_cast<uint64_t>(item->GetSize());
    // Rounded as the line of Crosswind rounds.
    const int64_t busy_ns = (bits * 1000000000ULL + g_rate / 2) / g_rate;
    // When the packet has left the queue is asked again, even if it is empty: a device does so, and flows that have run empty
    // learn of it.
    g_free_ns = Simulator::Now().GetNanoSeconds() + busy_ns;
    g_is_asked = true;
    Simulator::Schedule(NanoSeconds(busy_ns), &Serve);
}

static void
Join(Ptr<Item> item)
{
    if (g_device)
    {
        g_layer->Send(g_device, item);
        return;
    }
    g_queue->Enqueue(item);
    if (!g_is_asked && g_queue->GetNPackets() > 0)
    {
        g_is_asked = true;
        const int64_t wait_ns = std::max<int64_t>(0, g_free_ns - Simulator::Now().GetNanoSeconds());
        if (wait_ns == 0)
        {
            Serve();
            return;
        }
        Simulator::Schedule(NanoSeconds(wait_ns), &Serve);
    }
}

// What leaves at the same instant leaves first, as in Crosswind.
static void
Arrive(Ptr<Item> item)
{
    Simulator::ScheduleNow(&Join, item);
}

static void
PutBelow(const std::string& packets, const std::string& hold)
{
    NodeContainer nodes(2);
    for (uint32_t i = 0; i < 2; ++i)
    {
        nodes.Get(i)->AggregateObject(CreateObject<TrafficControlLayer>());
    }
    PointToPointHelper helper;
    helper.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(packets + "p"));
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(g_rate)));
    g_device = helper.Install(nodes).Get(0);
    g_layer = nodes.Get(0)->GetObject<TrafficControlLayer>();
    g_layer->SetRootQueueDiscOnDevice(g_device, g_queue);
    Ptr<DynamicQueueLimits> limits = CreateObject<DynamicQueueLimits>();
    limits->SetAttribute("HoldTime", StringValue(hold));
    g_device->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0)->SetQueueLimits(limits);
}

int
main(int argc, char** argv)
{
    if (argc < 4)
    {
        std::cerr << "usage: queue TYPE RATE_BPS SEED [NAME=VALUE ..] < arrivals\n";
        return 2;
    }
    g_rate = std::stoull(argv[2]);
    RngSeedManager::SetSeed(1 + std::stoul(argv[3]));
    const std::string type = argv[1];
    ObjectFactory factory("ns3::" + type + "QueueDisc");
    uint32_t quantum = 1514;
    std::string device;
    std::string hold = "1s";
    for (int i = 4; i < argc; ++i)
    {
        const std::string word = argv[i];
        const size_t eq = word.find('=');
        if (word.substr(0, eq) == "quantum")
        {
            quantum = std::stoul(word.substr(eq + 1));
            continue;
        }
        if (word.substr(0, eq) == "device" || word.substr(0, eq) == "hold")
        {
            (word[0] == 'd' ? device : hold) = word.substr(eq + 1);
            continue;
        }
        factory.Set(word.substr(0, eq), StringValue(word.substr(eq + 1)));
    }
    g_queue = factory.Create<QueueDisc>();
    if (type == "FqCoDel")
    {
        DynamicCast<FqCoDelQueueDisc>(g_queue)->SetQuantum(quantum);
    }
    g_queue->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&Dropped));
    g_queue->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&Dropped));
    g_queue->TraceConnectWithoutContext("Mark", MakeCallback(&Marked));
    if (!device.empty())
    {
        PutBelow(device, hold);
    }
    g_queue->Initialize();
    int64_t at_ns;
    uint32_t flow;
    uint32_t bytes;
    uint32_t capable;
    int64_t last_ns = 0;
    for (uint32_t n = 0; std::cin >> at_ns >> flow >> bytes >> capable; ++n)
    {
        const uint32_t length = bytes - (device.empty() ? 0 : PPP_BYTES);
        Simulator::Schedule(NanoSeconds(at_ns), &Arrive, Create<Item>(Create<Packet>(length), n, flow, capable != 0));
        last_ns = at_ns;
    }
    // The controllers with a clock of their own never come to an end.
    Simulator::Stop(NanoSeconds(last_ns + 1));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
