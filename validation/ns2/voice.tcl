# Voice-like flows over a chain of four nodes in ns-2 (model 2 of chapter 7 of [Igarashi 2007]), for comparison with Crosswind.
#
#   ns voice.tcl seed seconds limit
#
# Prints, for each node and group, packets that arrived at the node's queue and those dropped there. Sources are ns-2's
# exponential ones, silent at first. A drop-tail queue of ns-2 holds one packet less than its limit says.

foreach {seed seconds limit} $argv break
ns-random $seed
set ns [new Simulator]
foreach i {1 2 3 4} { set node($i) [$ns node] }
foreach i {1 2 3} {
    set next [expr {$i + 1}]
    set host($i) [$ns node]
    $ns duplex-link $host($i) $node($i) 1000Mb 1ms DropTail
    $ns queue-limit $host($i) $node($i) 100000
    $ns duplex-link $node($i) $node($next) 20Mb 1ms DropTail
    $ns queue-limit $node($i) $node($next) [expr {$limit + 1}]
    set monitor($i) [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $node($i) $node($next)] $monitor($i)
}
# Group, where it enters and where it leaves.
foreach {group enters leaves} {0 1 4  1 1 3  2 2 4  3 3 4  4 1 2} {
    for {set k 0} {$k < 80} {incr k} {
        set udp [new Agent/UDP]
        $udp set fid_ $group
        set sink [new Agent/Null]
        $ns attach-agent $host($enters) $udp
        $ns attach-agent $node($leaves) $sink
        $ns connect $udp $sink
        set source [new Application/Traffic/Exponential]
        $source set packetSize_ 200
        $source set burst_time_ 350ms
        $source set idle_time_ 650ms
        $source set rate_ 228571.43
        $source attach-agent $udp
        $ns at 0.0 "$source start"
    }
}
proc finish {} {
    global monitor
    foreach i {1 2 3} {
        foreach flow [$monitor($i) flows] {
            puts "$i [$flow set flowid_] [$flow set parrivals_] [$flow set pdrops_]"
        }
    }
    exit 0
}
$ns at $seconds "finish"
$ns run
