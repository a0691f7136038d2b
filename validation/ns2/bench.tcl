# The speed benchmark in ns-2: N one-way Sack1 flows over a dumbbell with three hops each way, no traces.
#
#   ns bench.tcl flows rate_bps duration_s scheduler queue
#
# scheduler: Calendar (ns-2's default), Splay, Heap, Map or List. queue: droptail or red. The flows are spread over up to 100 pairs of hosts (more
# nodes cost ns-2 minutes of set-up and change nothing at the bottleneck); each access link runs at ten times the
# bottleneck's rate with a tenth of the one-way delay, so the round-trip time is 60 ms without queueing. The bottleneck's
# queue holds one bandwidth-delay product of 1040-byte packets; RED counts packets, has its thresholds at 1/8 and 3/8 of
# that, max_p 0.1, is gentle and averages over one bandwidth-delay product. Starts are spread over the first second.
# Prints `key value` lines; `cpu_s` is the processor time from the first event on, without the set-up.

if {$argc != 5} {
    puts stderr "usage: ns bench.tcl flows rate_bps duration_s scheduler queue"
    exit 2
}
lassign $argv flows rate_bps duration_s scheduler queue
set rtt_s 0.060
set packet_bytes 1040
set bdp_packets [expr {int($rate_bps * $rtt_s / 8 / $packet_bytes)}]
set limit [expr {max(2, $bdp_packets)}]

# ns-2 otherwise computes all shortest paths, which takes minutes for 2000 nodes; and it gives every packet all headers
# of all protocols it knows.
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
$ns use-scheduler $scheduler
$ns rtproto Manual

Agent/TCP set window_ [expr {4 * $bdp_packets + 100}]
Agent/TCP set packetSize_ [expr {$packet_bytes - 40}]

proc route {from to} {
    [$from get-module "Manual"] add-route-to-adj-node -default $to
}

proc route_to {from to} {
    [$from get-module "Manual"] add-route-to-adj-node $to
}

# Processor time of this process so far, in seconds (Linux counts it in hundredths).
proc cpu_s {} {
    set stat [open /proc/self/stat]
    set fields [lrange [split [read $stat] ")"] 1 end]
    close $stat
    lassign [lrange [lindex $fields 0] 11 12] user system
    return [expr {($user + $system) / 100.0}]
}

set left [$ns node]
set right [$ns node]
Queue/RED set thresh_ [expr {max(1, $limit / 8)}]
Queue/RED set maxthresh_ [expr {max(1, 3 * $limit / 8)}]
Queue/RED set linterm_ 10
Queue/RED set q_weight_ [expr {1.0 / $limit}]
Queue/RED set mean_pktsize_ $packet_bytes
foreach switch {bytes_ queue_in_bytes_ adaptive_ setbit_} {
    Queue/RED set $switch false
}
Queue/RED set gentle_ true
Queue/RED set wait_ true
$ns simplex-link $left $right $rate_bps [expr {$rtt_s * 0.8 / 2}] [expr {$queue eq "red" ? "RED" : "DropTail"}]
$ns simplex-link $right $left $rate_bps [expr {$rtt_s * 0.8 / 2}] DropTail
$ns queue-limit $left $right $limit
$ns queue-limit $right $left [expr {10 * $limit}]
route $left $right
route $right $left
set monitor [$ns monitor-queue $left $right ""]

set pairs [expr {min($flows, 100)}]
for {set k 0} {$k < $pairs} {incr k} {
    set from($k) [$ns node]
    set to($k) [$ns node]
    foreach {a b} [list $from($k) $left $right $to($k)] {
        $ns duplex-link $a $b [expr {10 * $rate_bps}] [expr {$rtt_s * 0.1 / 2}] DropTail
        $ns queue-limit $a $b 1000000
        $ns queue-limit $b $a 1000000
    }
    route $from($k) $left
    route $to($k) $right
    route_to $left $from($k)
    route_to $right $to($k)
}

for {set i 0} {$i < $flows} {incr i} {
    set tcp [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1]
    $ns attach-agent $from([expr {$i % $pairs}]) $tcp
    $ns attach-agent $to([expr {$i % $pairs}]) $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr {double($i) / $flows}] "$ftp start"
    lappend senders $tcp
}

proc report {} {
    global monitor senders flows rate_bps duration_s scheduler queue set_up_s
    set run_s [expr {[cpu_s] - $set_up_s}]
    set sent 0
    set resent 0
    set timeouts 0
    foreach tcp $senders {
        incr sent [$tcp set ndatapack_]
        incr resent [$tcp set nrexmitpack_]
        incr timeouts [$tcp set nrexmit_]
    }
    puts "flows $flows"
    puts "rate_bps $rate_bps"
    puts "duration_s $duration_s"
    puts "scheduler $scheduler"
    puts "queue $queue"
    puts "bottleneck_packets [$monitor set pdepartures_]"
    puts "bottleneck_drops [$monitor set pdrops_]"
    puts "sent_packets $sent"
    puts "retransmitted_packets $resent"
    puts "timeouts $timeouts"
    puts "set_up_cpu_s [format %.2f $set_up_s]"
    puts "cpu_s [format %.2f $run_s]"
    exit 0
}
$ns at 0 {set set_up_s [cpu_s]}
$ns at $duration_s report
$ns run
