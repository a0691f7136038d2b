# One run of ns-2's diffserv module, for comparison with Crosswind.
#
#   ns diffserv.tcl key=value ...
#
# Nine senders --access--> edge (meters, no loss) --> core (RIO or WRED, the bottleneck) --> nine receivers. All keys come
# from diffserv.py; none has a default here.
#
# Output: `packets code total sent late early` for each code point at the core, `edge code total` for each at the edge,
# `flow number acknowledged` for each flow.

foreach word $argv {
    set at [string first = $word]
    set opt([string range $word 0 [expr {$at - 1}]]) [string range $word [expr {$at + 1}] end]
}

set ns [new Simulator]
$defaultRNG seed $opt(seed)
Queue set limit_ 200
Agent/TCP set window_ 1000
Agent/TCP set packetSize_ 960
Agent/TCP set overhead_ 0.000008

set edge [$ns node]
set core [$ns node]
set far [$ns node]
$ns simplex-link $edge $core 1000Mb 1ms dsRED/edge
$ns simplex-link $core $edge 1000Mb 1ms DropTail
$ns simplex-link $core $far $opt(rate)Mb 1ms dsRED/core
$ns simplex-link $far $core 1000Mb 1ms DropTail
set in [[$ns link $edge $core] queue]
set out [[$ns link $core $far] queue]
[[$ns link $core $edge] queue] set limit_ 100000
[[$ns link $far $core] queue] set limit_ 100000

proc prepare {q mode} {
    global opt
    $q meanPktSize 1000
    $q set numQueues_ 1
    $q setNumPrec 3
    $q setMREDMode $mode 0
    $q addPHBEntry 10 0 0
    $q addPHBEntry 12 0 1
    $q addPHBEntry 14 0 2
    $q addPHBEntry 0 0 2
}
prepare $in DROP
prepare $out $opt(mode)
foreach prec {0 1 2} { $in configQ 0 $prec 100000 100001 1.0 }
$out configQ 0 0 100 150 0.02
$out configQ 0 1 50 100 0.1
$out configQ 0 2 20 60 0.2

set i 0
set tcps {}
foreach rate [split $opt(contracts) ,] rtt [split $opt(rtts) ,] {
    set source [$ns node]
    set sink [$ns node]
    $ns duplex-link $source $edge 1000Mb [expr {$rtt / 2.0 - 3}]ms DropTail
    $ns duplex-link $far $sink 1000Mb 1ms DropTail
    $ns queue-limit $source $edge 100000
    set tcp [new Agent/TCP/Sack1]
    set receiver [new Agent/TCPSink/Sack1]
    $ns attach-agent $source $tcp
    $ns attach-agent $sink $receiver
    $ns connect $tcp $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr {0.1 * [$defaultRNG uniform 0 1]}] "$ftp start"
    set cir [expr {$rate * 1000000}]
    set entry [list [$source id] [$sink id] $opt(meter) 10 $cir]
    foreach more [split $opt(more) ,] { lappend entry [expr {$more < 0 ? -$more * $cir : $more}] }
    eval $in addPolicyEntry $entry
    lappend tcps $tcp
    incr i
}
eval $in addPolicerEntry $opt(meter) [split $opt(points) ,]

proc finish {} {
    global in out tcps
    puts "== edge"
    $in printStats
    puts "== core"
    $out printStats
    puts "== flows"
    set i 0
    foreach tcp $tcps {
        puts "flow $i [$tcp set ack_]"
        incr i
    }
    exit 0
}
$ns at $opt(seconds) finish
$ns run
