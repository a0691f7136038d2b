// The speed benchmark in ns-3: N TCP flows over a dumbbell with three hops each way, no traces.
//
//   bench flows rate_bps duration_s queue
//
// The same network as validation/ns2/bench.tcl: up to 100 pairs of hosts, access links ten times as fast as the
// bottleneck, 60 ms round trip, a queue of one bandwidth-delay product of 1040-byte packets (queue: droptail; red and
// adaptive-red with the thresholds, weight and probability of the other two; codel, pie, cobalt, fq-codel, fq-pie with
// ns-3's defaults), segments of 1000 bytes, SACK, one ACK per segment, starts spread over the first second. Prints
// `key value` lines; `cpu_s` is the processor time of the run without the set-up.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <string>

using namespace ns3;

static uint64_t g_packets = 0;

// The queue disc of this name with room for so many packets; false: there is none.
static bool
SetLaw(TrafficControlHelper& law, const std::string& name, uint32_t limit, uint64_t rate)
{
    const QueueSizeValue size(QueueSize(QueueSizeUnit::PACKETS, limit));
    if (name == "red" || name == "adaptive-red")
    {
        const bool adaptive = name == "adaptive-red";
        law.SetRootQueueDisc("ns3::RedQueueDisc",
                             "MaxSize",
                             size,
                             "MinTh",
                             DoubleValue(std::max<uint32_t>(1, limit / 8)),
                             "MaxTh",
                             DoubleValue(std::max<uint32_t>(1, 3 * limit / 8)),
                             "QW",
                             DoubleValue(1.0 / limit),
                             "LInterm",
                             DoubleValue(adaptive ? 50 : 10),
                             "AdaptMaxP",
                             BooleanValue(adaptive),
                             "MeanPktSize",
                             UintegerValue(1040),
                             "Gentle",
                             BooleanValue(true),
                             "LinkBandwidth",
                             DataRateValue(DataRate(rate)),
                             "LinkDelay",
                             StringValue("24ms"));
        return true;
    }
    const std::map<std::string, std::string> discs = {{"codel", "CoDel"},
                                                      {"pie", "Pie"},
                                                      {"cobalt", "Cobalt"},
                                                      {"fq-codel", "FqCoDel"},
                                                      {"fq-pie", "FqPie"}};
    const auto found = discs.find(name);
    if (found != discs.end())
    {
        law.SetRootQueueDisc("ns3::" + found->second + "QueueDisc", "MaxSize", size);
    }
    return found != discs.end();
}

static void
Sent(Ptr<const Packet> p)
{
    g_packets += p->GetSize() > 500;
}

int
main(int argc, char** argv)
{
    if (argc != 5)
    {
        std::cerr << "usage: bench flows rate_bps duration_s queue\n";
        return 2;
    }
    const uint32_t flows = std::atoi(argv[1]);
    const uint64_t rate = std::atoll(argv[2]);
    const double seconds = std::atof(argv[3]);
    const std::string queue = argv[4];
    const uint32_t pairs = std::min<uint32_t>(std::max<uint32_t>(flows, 1), 100);
    const uint32_t limit = std::max<uint64_t>(2, rate * 60 / 8000 / 1040);

    TrafficControlHelper law;
    const bool has_law = SetLaw(law, queue, limit, rate);
    if (!has_law && queue != "droptail")
    {
        std::cerr << "no queue " << queue << " here\n";
        return 2;
    }

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 26));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 26));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));

    NodeContainer routers;
    routers.Create(2);
    NodeContainer left;
    NodeContainer right;
    left.Create(pairs);
    right.Create(pairs);
    InternetStackHelper stack;
    stack.Install(routers);
    stack.Install(left);
    stack.Install(right);

    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate)));
    bottleneck.SetChannelAttribute("Delay", StringValue("24ms"));
    // With a law the packets wait in the queue disc, so the device holds one only.
    bottleneck.SetQueue("ns3::DropTailQueue",
                        "MaxSize",
                        QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, has_law ? 1 : limit)));
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", DataRateValue(DataRate(10 * rate)));
    access.SetChannelAttribute("Delay", StringValue("3ms"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));

    // No other queue disc above the devices: the bottleneck has one queue.
    TrafficControlHelper none;
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.252");
    NetDeviceContainer middle = bottleneck.Install(routers.Get(0), routers.Get(1));
    if (has_law)
    {
        law.Install(middle.Get(0));
    }
    addresses.Assign(middle);
    none.Uninstall(has_law ? NetDeviceContainer(middle.Get(1)) : middle);
    middle.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Sent));

    std::vector<Ipv4Address> sinks(pairs);
    for (uint32_t i = 0; i < pairs; ++i)
    {
        addresses.NewNetwork();
        NetDeviceContainer l = access.Install(left.Get(i), routers.Get(0));
        addresses.Assign(l);
        addresses.NewNetwork();
        NetDeviceContainer r = access.Install(right.Get(i), routers.Get(1));
        sinks[i] = addresses.Assign(r).GetAddress(0);
        none.Uninstall(l);
        none.Uninstall(r);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    for (uint32_t f = 0; f < flows; ++f)
    {
        const uint32_t i = f % pairs;
        const uint16_t port = 5000 + f / pairs;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(right.Get(i));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(sinks[i], port));
        source.SetAttribute("SendSize", UintegerValue(1000));
        ApplicationContainer app = source.Install(left.Get(i));
        app.Start(Seconds(double(f) / flows));
    }

    Simulator::Stop(Seconds(seconds));
    const std::clock_t before = std::clock();
    Simulator::Run();
    const double cpu = double(std::clock() - before) / CLOCKS_PER_SEC;
    std::cout << "flows " << flows << "\nbottleneck_packets " << g_packets << "\ncpu_s " << cpu << "\n";
    Simulator::Destroy();
    return 0;
}
