// One flow of BIC over a slow line, as ns-3's suite for RFC 7928 sets up its section 5.2: what do the queue and the device
// in front of the line hold?
//
//   g++ -O2 -std=c++17 suite.cc -o suite -lns3-{core,network,internet,point-to-point,traffic-control,applications}
//   suite queue device_packets [pie_target_ms rate_threshold_bytes]
//
// 1 Mbit/s and 48 ms between 10 Mbit/s and 1 ms, segments of 698 bytes, no SACK, initial window 3, a program that writes at
// 10 Mbit/s for 300 s, 45 packets in the discipline (queue: PfifoFast, CoDel, Pie, Cobalt). `rate_threshold_bytes`: PIE
// takes delays from the rate at which packets leave. Prints `key value` lines: the mean wait in the discipline, goodput
// over the whole run, and the rate as the suite reckons it: the mean over 100 ms of the means over windows of 10 ms or more.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

using namespace ns3;

static std::map<uint64_t, Time> g_since;
static double g_waits_s = 0;
static uint64_t g_left = 0;
static uint64_t g_bytes = 0;
static uint64_t g_window_bytes = 0;
static Time g_window = Time::Min();
static std::map<int64_t, std::pair<double, int>> g_rates;

static void
Joined(Ptr<const QueueDiscItem> item)
{
    g_since[item->GetPacket()->GetUid()] = Simulator::Now();
}

static void
Left(Ptr<const QueueDiscItem> item)
{
    const auto at = g_since.find(item->GetPacket()->GetUid());
    if (at == g_since.end())
    {
        return; // a retransmission, whose number another copy of it had taken along
    }
    g_waits_s += (Simulator::Now() - at->second).GetSeconds();
    g_since.erase(at);
    ++g_left;
}

static void
Arrived(Ptr<const Packet> p, const Address&)
{
    const Time now = Simulator::Now();
    g_bytes += p->GetSize();
    if (g_window == Time::Min() || now - g_window > MilliSeconds(10))
    {
        if (g_window_bytes > 0)
        {
            auto& tenth = g_rates[now.GetMilliSeconds() / 100];
            tenth.first += g_window_bytes / (now - g_window).GetSeconds();
            ++tenth.second;
        }
        g_window = now;
        g_window_bytes = 0;
    }
    g_window_bytes += p->GetSize();
}

static void
SetDefaults(int argc, char** argv)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpBic"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(3));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(698));
    Config::SetDefault("ns3::PfifoFastQueueDisc::MaxSize", StringValue("45p"));
    Config::SetDefault("ns3::CoDelQueueDisc::MaxSize", StringValue("45p"));
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(750));
    Config::SetDefault("ns3::PieQueueDisc::MaxSize", StringValue("45p"));
    Config::SetDefault("ns3::PieQueueDisc::MeanPktSize", UintegerValue(750));
    const std::string target = argc > 3 ? argv[3] : "20";
    Config::SetDefault("ns3::PieQueueDisc::QueueDelayReference", StringValue(target + "ms"));
    if (argc > 4)
    {
        Config::SetDefault("ns3::PieQueueDisc::UseDequeueRateEstimator", BooleanValue(true));
        Config::SetDefault("ns3::PieQueueDisc::DequeueThreshold", UintegerValue(std::atoi(argv[4])));
    }
}

int
main(int argc, char** argv)
{
    if (argc < 3 || argc > 5)
    {
        std::cerr << "usage: suite queue device_packets [pie_target_ms rate_threshold_bytes]\n";
        return 2;
    }
    SetDefaults(argc, argv);
    const double seconds = 300;
    NodeContainer nodes; // sender, left router, right router, receiver
    nodes.Create(4);
    InternetStackHelper().Install(nodes);
    PointToPointHelper line;
    line.SetDeviceAttribute("DataRate", StringValue("1Mbps"));
    line.SetChannelAttribute("Delay", StringValue("48ms"));
    line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::string(argv[2]) + "p"));
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    NetDeviceContainer middle = line.Install(nodes.Get(1), nodes.Get(2));
    Ipv4AddressHelper addresses("10.1.1.0", "255.255.255.0");
    addresses.Assign(middle);
    addresses.NewNetwork();
    addresses.Assign(access.Install(nodes.Get(0), nodes.Get(1)));
    addresses.NewNetwork();
    const Ipv4Address to = addresses.Assign(access.Install(nodes.Get(2), nodes.Get(3))).GetAddress(1);

    TrafficControlHelper control;
    control.Uninstall(middle.Get(0));
    control.SetRootQueueDisc("ns3::" + std::string(argv[1]) + "QueueDisc");
    Ptr<QueueDisc> disc = control.Install(middle.Get(0)).Get(0);
    disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&Joined));
    disc->TraceConnectWithoutContext("Dequeue", MakeCallback(&Left));
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    sink.Install(nodes.Get(3)).Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Arrived));
    OnOffHelper source("ns3::TcpSocketFactory", InetSocketAddress(to, 5000));
    source.SetConstantRate(DataRate("10Mbps"), 698);
    ApplicationContainer app = source.Install(nodes.Get(0));
    app.Start(Seconds(0));
    app.Stop(Seconds(seconds));
    Simulator::Stop(Seconds(seconds + 10));
    Simulator::Run();

    double rate = 0;
    for (const auto& tenth : g_rates)
    {
        rate += tenth.second.first / tenth.second.second;
    }
    const double mebi = 1 << 20;
    std::cout << "delay_ms " << 1e3 * g_waits_s / g_left << "\ngoodput_mebi " << 8 * g_bytes / seconds / mebi
              << "\nrate_mebi " << 8 * rate / g_rates.size() / mebi << "\n";
    Simulator::Destroy();
    return 0;
}
